"""Work on reports that goes on after they are made: patches, and experiments on a program."""
