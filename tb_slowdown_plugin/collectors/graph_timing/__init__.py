"""Inside TensorFlow graphs: clocks, and what gradients are for.

The flow of the clocks: `graph_clock` adds up in the graph -> `graph_wait` says of what ->
`graph_account` reads the sum and books it. Start at `graph_account.GraphAccount`.

The flow of gradients: `asked_gradients` keeps who asks and who gets -> `gradient_use` says what is
of no use, by `zero_tensors` and `summed_gradients` -> `graph_work` counts its share of the graph.
Start at `gradient_use.count_places`.
"""
