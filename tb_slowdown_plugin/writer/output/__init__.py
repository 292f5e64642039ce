"""Rows and samples become tables, records, and an event file.

The flow: `tables.build_steps` -> `records/codec.py` -> `outbox.Outbox` (keeps what can't be written
yet) -> `event_file.EventFileSink`.
"""
