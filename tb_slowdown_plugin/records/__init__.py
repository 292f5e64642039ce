"""What one record in the logdir holds: the foundation of both towers."""
