"""The Slowdown tab: routes and the TensorBoard plugin.

The flow: `loader` (TensorBoard imports it) -> `plugin.SlowdownPlugin` (HTTP) -> `routes.ROUTES` ->
`runs.Runs` (read and analyzed, as `analyses` says how much and when) -> JSON, kept by `cache`.
"""
