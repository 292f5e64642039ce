"""Measurements behind the promises of the README."""
