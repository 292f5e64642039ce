"""Tables of many runs: their columns, Parquet files, sums, and how these are shown.

The flow: `columns` -> `tables` -> `summary` -> `summary_tables` -> `summary_text` or
`summary_page`.
"""
