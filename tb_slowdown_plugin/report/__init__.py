"""A report as text, JSON and HTML.

The flow: `judged_runs.judge_runs` -> `text_report`, `json_body`, `html_page`, or `formats/`.
`patches/` changes the reader's source, `share/` makes a zip, `fleet/` tables of many runs.
"""
