"""What a call did, in words."""

from tb_slowdown_plugin.analysis.causes.common.call_text import tell_parts
from tb_slowdown_plugin.analysis.prepare.user_calls import Called


def test_parts_are_told_by_what_they_take_and_the_rest_with_them():
    parts = {"tracing": 0.2, "first_execution": 0.001, "computing": 0.0012, "gc": 0.04}
    assert tell_parts(Called("fit", "main (train.py:9)", 4.0, 0.4, 4.0, parts)) == (
        "A call of `fit` in main (train.py:9) takes 100 ms, measured in the first 4 calls: 50 "
        "ms tracing functions, 39.4 ms other work of the call, 10 ms garbage collection and "
        "0.3 ms computing."
    )
