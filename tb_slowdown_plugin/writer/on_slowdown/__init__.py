"""Tells the program itself that it has become slower or blocks: `tbslow.start(on_slowdown=f)`.

`pace_watch` sees it in the steps that are written -> `slowdown_event` says it -> `callback_thread`
calls `f`. `run_watch` puts them together, and has the line at the end of a run. Beside it,
`profile_on_slowdown` takes captures when that comes.
"""
