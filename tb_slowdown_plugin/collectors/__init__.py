"""One file per signal family: hooks into TensorFlow, Keras, Python and the machine.

The flow: `registry.create` makes them, the writer starts them with a `base.Context` -> a hook books
seconds on `timing/`'s stopwatch, emits events, or is read now and then.
Start at `base.Collector`, and at `tracing/` for one that does all of it.
"""
