"""One rule per cause: findings and events in, evidence and advice out."""
