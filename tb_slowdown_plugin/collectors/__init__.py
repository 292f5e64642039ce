"""One file per signal family: hooks into TensorFlow, Keras, Python and the machine."""
