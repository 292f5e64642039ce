"""The Slowdown tab: routes and the TensorBoard plugin."""
