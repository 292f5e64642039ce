"""Steps of a run without records to its report: pauses, onset, other scalars that change.

Start at `scalar_report.account_for_scalars`.
"""
