"""Metrics that a scrape gets: those of the report, with bounded labels."""

from __future__ import annotations

import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families
from unit.jobs.looks import cause_of, look_of, stall_of

from tb_slowdown_plugin.analysis.report_types.live import Remaining
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.prometheus_export import MAX_RUNS, Metrics, serve


def scrape(metrics):
    host, port = serve(metrics, "0")
    with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return {
        (
            sample.name,
            *(sample.labels[k] for k in ("run", "cause") if k in sample.labels),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def metrics():
    return Metrics()


def test_a_scrape_has_the_figures_of_the_report(metrics):
    causes = (cause_of(), cause_of("of_tomorrow", 5.0))
    metrics.update([look_of(causes=causes, unexplained_seconds=2.5), look_of("run2")])
    found = scrape(metrics)
    assert found["tbslow_step_seconds", "run1"] == 0.145
    assert found["tbslow_healthy_step_seconds", "run1"] == 0.1
    assert found["tbslow_lost_seconds_total", "run1", "retracing"] == 31.0
    assert found["tbslow_lost_seconds_total", "run1", "other"] == 5.0
    assert found["tbslow_lost_seconds_total", "run1", "unexplained"] == 2.5
    assert found["tbslow_wall_seconds_total", "run1"] == 100.0
    assert found["tbslow_stalled", "run1"] == 0.0
    assert (found["tbslow_runs",], found["tbslow_logdir_readable",]) == (2.0, 1.0)


def test_what_is_left_is_of_live_runs_that_say_how_many_steps_there_are(metrics):
    left = Remaining(600, 240.0, 180.0, "")
    ended = look_of("run2", remaining=left, is_live=False)
    metrics.update([look_of(remaining=left), ended, look_of("run3")])
    found = {key: value for key, value in scrape(metrics).items() if "remaining" in key[0]}
    assert found == {("tbslow_remaining_seconds", "run1"): 240.0}


@pytest.mark.parametrize(
    ("look", "stalled"),
    [
        (look_of(stall=stall_of()), 1.0),
        (look_of(stall=stall_of("checkpoint")), 0.0),
        (look_of(stall=stall_of(), is_live=False), 0.0),
    ],
)
def test_only_a_live_run_that_waits_is_stalled(metrics, look, stalled):
    metrics.update([look])
    assert scrape(metrics)["tbslow_stalled", "run1"] == stalled


def test_figures_stay_while_the_logdir_is_away(metrics):
    metrics.update([look_of()])
    metrics.fail()
    found = scrape(metrics)
    assert found["tbslow_logdir_readable",] == 0.0
    assert found["tbslow_steps_total", "run1"] == 1000.0


def test_label_values_are_bounded_and_unlike_each_other(metrics):
    long = [look_of("x" * 500 + str(number)) for number in range(3)]
    metrics.update([*long, *(look_of(f"run{number}") for number in range(MAX_RUNS + 50))])
    found = scrape(metrics)
    names = [key[1] for key in found if key[0] == "tbslow_live"]
    assert len(names) == len(set(names)) == MAX_RUNS - 2
    assert max(map(len, names)) == 128
    assert found["tbslow_runs",] == MAX_RUNS + 53


@pytest.mark.parametrize("address", ["no", "99999", "1.2.3.4:x", "256.0.0.1:0"])
def test_a_wrong_address_is_refused(metrics, address):
    with pytest.raises(InputError, match="--prometheus"):
        serve(metrics, address)
