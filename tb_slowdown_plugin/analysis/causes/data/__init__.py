"""Causes in input, copies, and communication."""
