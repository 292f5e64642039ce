"""What gradients are for: `asked_gradients` keeps who asks and who gets.

The flow: -> `gradient_use` says which are of no use, by `zero_tensors` and `summed_gradients`, and
`unused_share` what they cost; of eager steps, `repeated_gradients`. Start at
`gradient_use.count_places`.
"""
