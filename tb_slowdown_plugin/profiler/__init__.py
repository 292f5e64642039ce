"""Profiler captures: found, read without TensorFlow or XProf, and compared."""
