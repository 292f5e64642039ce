"""The decision thresholds of the analysis, one module a stage, and `shared` for several.

The documentation lists them (`scripts/parameter_page.py`). Start at `shared.py`.
"""
