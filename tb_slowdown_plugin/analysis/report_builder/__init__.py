"""A run becomes its report: first what is known of it, then the words.

Start at `account.account_for`: `judgment.py` decides, `cause_rows.py` and `report_text.py` tell.
"""
