"""The command `tbslow`.

The flow: `command.main` -> `parsing/` (flags) -> the module of the command -> `output` and
`display/`.
"""
