"""The text of `tbslow try`."""

from __future__ import annotations

from tb_slowdown_plugin.catalog.experiments import EXPERIMENTS
from tb_slowdown_plugin.records.trials import Trial
from tb_slowdown_plugin.report.formats.trials_text import list_text, trials_text

FASTER = Trial("prefetch", (0.2, 0.1), 2.0, (1.9, 2.1), "input_pipeline", "no", "ds = ds\nds.go()")
SAME = Trial("xla", (0.1, 0.1), 1.0, (0.98, 1.02), None, "numerics", "jit_compile=True")


def test_each_experiment_has_its_paragraph() -> None:
    text = trials_text([FASTER, SAME], [("gc_frozen", "few steps\x1b[0m")], width=78, colour=False)
    assert text == (
        "prefetch: 2 times faster (1.9 to 2.1)\n"
        "   From 200 ms to 100 ms per step. This confirms Input pipeline. Changes the\n"
        "   results of training: no.\n"
        "   Example:\n"
        "      ds = ds\n"
        "      ds.go()\n"
        "\n"
        "xla: no difference (0.98 to 1.02)\n"
        "   From 100 ms to 100 ms per step. Changes the results of training: yes, by\n"
        "   rounding.\n"
        "\n"
        "gc_frozen: not tried: few steps\\x1b[0m.\n"
    )


def test_what_is_too_uncertain_says_what_would_tell() -> None:
    trial = Trial("xla", (0.1, 0.09), 1.1, (0.6, 2.1), None, "numerics", "jit_compile=True")
    assert trials_text([trial], [], width=78, colour=False).startswith(
        "xla: too uncertain to tell (0.6 to 2.1)\n"
        "   From 100 ms to 90 ms per step. More --repeats, or a quieter machine, would\n"
        "   tell."
    )


def test_a_patch_is_shown_as_it_is() -> None:
    trial = Trial(
        "patch_retracing", (0.2, 0.1), 2.0, (1.9, 2.1), None, "no", "--- a\n+++ b\n-x\n+y"
    )
    text = trials_text([trial], [], width=78, colour=False)
    assert text.endswith(
        "   Patch, as tbslow fix has it:\n      --- a\n      +++ b\n      -x\n      +y\n"
    )


def test_the_list_has_each_experiment_within_the_width() -> None:
    text = list_text(list(EXPERIMENTS.values()), width=78, colour=False)
    assert [line.split()[0] for line in text.splitlines() if line[0] != " "] == list(EXPERIMENTS)
    assert max(map(len, text.splitlines())) <= 78
