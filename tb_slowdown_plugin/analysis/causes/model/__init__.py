"""Causes in the model's own work."""
