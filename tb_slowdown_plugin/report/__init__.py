"""A report as text, JSON and HTML."""
