"""Causes in what training writes."""
