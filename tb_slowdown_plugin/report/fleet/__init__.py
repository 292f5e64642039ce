"""Tables of many runs: their columns, Parquet files, sums, and how these are shown."""
