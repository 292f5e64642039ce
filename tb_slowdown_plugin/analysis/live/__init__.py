"""A growing run becomes a report that keeps what it once confirmed.

The flow: `follow.follow` -> `hysteresis` (what is confirmed) -> `confirming` (says what isn't yet).
`recent_pace` sees what is too new for a fit.
"""
