"""A step waits for what another process sends: a socket, a pipe; which line, and how often."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_looks, usual_and_often
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import ledger_seconds, percent
from tb_slowdown_plugin.catalog import names, stack_samples


def claim(case: Case) -> Claim | None:
    """Claims the seconds of lines that wait for a connection."""
    found = case.of(names.CONNECTION)
    if not found:
        return None
    main = largest(found)
    claimed = case.defect(main, found)
    account = names.detail(main.source)
    line = names.place(account)
    usual, often = usual_and_often(case, main)
    seconds = lost_seconds(claimed)
    return Claim(
        "communication",
        claimed,
        f"waiting for another process in {line}",
        f"The training thread waits for what another process sends, in {line} "
        f"{often}, {usual} each time.",
        (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) passed "
            "while the training thread slept until a socket or a pipe had something to read.",
            *tell_looks(case, account, (stack_samples.WAITS_OUTSIDE,)),
        ),
        (_ask_ahead(), _send_at_once()),
        "medium",
        place=to_place(line),
    )


def _ask_ahead() -> Advice:
    return Advice(
        "Ask for the next answer before the step needs it, in another thread, or for several "
        "batches at once: each request waits for its way there and back.",
        snippet(
            new("pool = concurrent.futures.ThreadPoolExecutor(1)", "answer = pool.submit(ask, 0)"),
            old("x, y = ask(step)"),
            new("x, y = answer.result()", "answer = pool.submit(ask, step + 1)"),
        ),
        "What was asked for ahead is older by one step.",
        "find the line that waits",
    )


def _send_at_once() -> Advice:
    return Advice(
        "If each answer takes about 40 ms whatever it holds, send a request in one `sendall`, or "
        "switch off that small packets wait for each other.",
        snippet(
            new("connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)"),
        ),
        "More, smaller packets.",
        "where your program opens the connection",
    )
