"""The Slowdown tab: routes and the TensorBoard plugin.

The flow: `loader` (TensorBoard imports it) -> `plugin.SlowdownPlugin` (HTTP) -> `routes.ROUTES` ->
`runs.Runs` (read and analyzed) -> JSON, kept by `cache`. `incremental` spares analyses of growing
runs.
"""
