"""Records out of a logdir: data provider to joined columns."""
