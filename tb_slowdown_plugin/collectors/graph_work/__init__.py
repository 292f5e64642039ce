"""What TensorFlow graphs compute, and what of it is of no use.

The flow: `gradients` says which of them are of no use, and `needless` what else a step doesn't need
-> `operation_costs` counts its share of the graph, by `tensor_sizes`. Start at
`needless_work.NeedlessWork`.
"""
