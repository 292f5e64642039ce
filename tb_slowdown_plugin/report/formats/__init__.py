"""Reports in the formats of other tools: `markdown` for people, `junit` for CI servers."""
