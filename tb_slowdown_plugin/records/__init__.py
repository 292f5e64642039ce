"""What one record in the logdir holds: the foundation of both towers.

The flow: `types.Chunk` -> `codec.encode` -> bytes -> `decoding.open_record` -> `types.Chunk`.
`limits` says what a record may claim. Start at `types.py`.
"""
