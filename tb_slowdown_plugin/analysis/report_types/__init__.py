"""The values that a report is made of, which `tbslow report --format json` and the page show.

Start at `report.Report`, whose fields name all others.
"""
