"""Each refusal names the parameter, its value and what is allowed."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.server.params import ParameterError, text, whole


def test_a_text_is_handed_on_as_it_is() -> None:
    assert text({"run": "a/b c"}, "run") == "a/b c"


@pytest.mark.parametrize("parameters", [{}, {"run": ""}])
def test_a_missing_text_is_refused(parameters: dict[str, str]) -> None:
    with pytest.raises(ParameterError, match=r"^parameter 'run' is missing; give 'run=\.\.\.'$"):
        text(parameters, "run")


@pytest.mark.parametrize(("value", "number"), [("0", 0), ("7", 7), ("-3", -3), ("0012", 12)])
def test_whole_numbers(value: str, number: int) -> None:
    assert whole({"first": value}, "first", 99, least=-5) == number


def test_the_default_may_lie_outside_the_limits() -> None:
    assert whole({}, "last", -1, least=0, most=9) == -1


@pytest.mark.parametrize(
    "value", ["", "1.5", "1e3", "x", " 1", "+1", "--1", "٣", "²", "1_0", "9" * 19]
)
def test_what_is_no_whole_number_is_refused(value: str) -> None:
    with pytest.raises(ParameterError, match="whole number from 0 to 9") as refusal:
        whole({"first": value}, "first", 0, least=0, most=9)
    assert repr(value) in str(refusal.value)


@pytest.mark.parametrize(
    ("value", "most", "allowed"), [("-1", None, "of at least 0"), ("10", 9, "from 0 to 9")]
)
def test_a_number_outside_the_limits_is_refused(value: str, most: int | None, allowed: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        whole({"first": value}, "first", 0, least=0, most=most)
    assert (
        str(refusal.value) == f"parameter 'first' is {value}; it must be a whole number {allowed}"
    )


def test_a_long_value_is_not_sent_back_whole() -> None:
    with pytest.raises(ParameterError) as refusal:
        whole({"first": "9" * 100_000}, "first", 0, least=0)
    assert len(str(refusal.value)) < 200
