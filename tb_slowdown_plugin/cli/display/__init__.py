"""What stays or moves on a terminal: the table of `watch`, and the verdict when a program ends."""
