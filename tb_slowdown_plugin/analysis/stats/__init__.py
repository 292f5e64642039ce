"""Statistics of series that know no account: changes, growth, periods, noise.

Start at `trend.fit_trend`.
"""
