"""What TensorFlow graphs compute, and what of it is of no use.

The flow: `asked_gradients` keeps who asks and who gets -> `gradient_use` says which gradients are
of no use, by `zero_tensors` and `summed_gradients`, and `needless_work` what else a step doesn't
need -> `operation_costs` counts its share of the graph. Start at `gradient_use.count_places`.
"""
