"""Pure analysis: arrays in, findings out."""
