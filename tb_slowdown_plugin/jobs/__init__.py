"""Work on reports that goes on after they are made: one folder or module each."""
