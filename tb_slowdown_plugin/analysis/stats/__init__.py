"""Statistics of series that know no account: changes, growth, periods, noise.

The flow: `buckets` -> `change_points` (pieces) -> `segments` (parts) -> `rises`; `trend.fit_trend`
puts them together.
"""
