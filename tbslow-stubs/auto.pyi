"""`import tbslow.auto`: see docs/run.md."""
