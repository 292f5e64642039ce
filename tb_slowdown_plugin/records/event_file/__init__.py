"""Event files as TensorBoard reads them: what carries a record, and its frame.

Start at `envelope.event_of`.
"""
