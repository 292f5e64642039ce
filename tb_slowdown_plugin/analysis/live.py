"""The account of a run that still runs, look after look."""

from __future__ import annotations

from dataclasses import replace

from tb_slowdown_plugin.analysis.account import assemble, open_case
from tb_slowdown_plugin.analysis.announce import Watch, announce
from tb_slowdown_plugin.analysis.types import Account
from tb_slowdown_plugin.records.types import Run


def follow(run: Run, before: Watch | None) -> tuple[Account, Watch]:
    """Says of a growing run what lasted, and in its notes what is taken back.

    Args:
      run: As far as it has come.
      before: What the look before returned; None at the first, which tells what
        `account_for` tells.

    Returns:
      Its account, and what to hand in at the next look.
    """
    case = open_case(run)
    diagnosis, watch = announce(case.diagnosis, run.steps.number, before)
    account = assemble(replace(case, diagnosis=diagnosis, findings=diagnosis.findings))
    report = replace(account.report, notes=account.report.notes + watch.taken_back)
    return replace(account, report=report), watch
