"""The directory in which `import tbslow.auto` is found."""
