"""The decision thresholds of the analysis, one module a stage; docs/parameters.md lists them."""
