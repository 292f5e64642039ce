"""What the record says about the program, and about its pipeline."""
