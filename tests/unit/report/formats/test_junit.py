from dataclasses import replace
from xml.etree import ElementTree

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.report.formats.junit import to_junit


def test_one_case_a_run(slow: Report) -> None:
    few = replace(slow, run="few", verdict="not_enough_steps", headline="Not enough steps yet.")
    fine = replace(slow, run='<fine> & "well"', verdict="healthy", headline="Healthy.", causes=())
    suite = ElementTree.fromstring(to_junit([slow, few, fine], {"run1"}))
    assert suite.attrib == {
        "name": "tbslow",
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
    }
    failed, skipped, passed = suite
    assert failed.get("time") == "9300.000"
    failure = failed.find("failure")
    assert failure is not None
    assert failure.get("message") == slow.headline
    assert "1. Retracing: 1,740.0 s" in (failure.text or "")
    assert skipped.find("skipped") is not None
    assert passed.get("name") == '<fine> & "well"'
    assert passed.find("failure") is None
