"""What a command line says: `arguments.parse`; the texts of `--help` are in `help_texts`."""
