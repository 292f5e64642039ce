"""Advice is given where it applies, in its order, and none of it twice."""

from tb_slowdown_plugin.analysis.causes.common.offers import Offer, always, offered, plain
from tb_slowdown_plugin.analysis.report_types.causes import Advice


def rest() -> Advice:
    return Advice("Rest.")


def slow_down(evidence: int) -> Advice:
    return Advice(f"Slow down by {evidence}.")


OFFERS = (
    Offer(slow_down, when=lambda evidence: evidence > 3),
    Offer(plain(rest), when=always),
    Offer(plain(rest), when=always),
)


def test_only_what_applies_is_offered():
    assert [each.text for each in offered(OFFERS, 5)] == ["Slow down by 5.", "Rest."]
    assert [each.text for each in offered(OFFERS, 1)] == ["Rest."]


def test_an_offer_has_the_name_of_its_text():
    assert [offer.name for offer in OFFERS] == ["slow_down", "rest", "rest"]
