"""What `tbslow try` changes in a program from outside. Entry: `registry.INTERVENTIONS`.

Each is a class that hooks TensorFlow, Keras, or Python once TensorFlow is imported, counts what
it has changed, and raises `Unavailable` where it can't be tried.
"""
