"""A file with its syntax tree: questions to it, and what code means."""
