"""When collectors are read, and what they return.

The flow: `sampler.Sampling` says when -> `collection.Collection` reads, and stops what fails.
`flush_pace` says when to write, `stall_watch` sees that no step ends.
"""
