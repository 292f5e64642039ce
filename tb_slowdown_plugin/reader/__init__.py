"""Records out of a logdir: data provider to joined columns.

The flow: `provider.ProviderRecords` in TensorBoard, `event_files` and `logdir.read_runs` in
commands -> `build/` joins records -> one `Run`. `run_store.RunStore` keeps the runs of the tab.
"""
