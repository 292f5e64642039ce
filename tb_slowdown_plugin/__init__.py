"""Why TensorFlow training gets slower, told in TensorBoard."""
