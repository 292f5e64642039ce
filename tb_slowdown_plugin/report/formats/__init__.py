"""Formats of reports: `markdown` for people, `junit` for CI servers, `html_file` around pages."""
