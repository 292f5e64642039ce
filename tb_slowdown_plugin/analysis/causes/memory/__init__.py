"""Causes in memory."""
