"""Findings that are healthy after all: scheduled work and more work per step."""
