"""When collectors are read, and what they return.

The flow: `sampler.Sampling` says when -> `collection.Collection` reads, and stops what fails.
`flush_schedule` says when to write, `flush_pace` when to write before that, and `stall_watch` sees
that no step ends.
"""
