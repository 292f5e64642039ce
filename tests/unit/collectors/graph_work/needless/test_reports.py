"""What a graph makes to be reported is counted, other than single numbers and evaluations."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.reports import find_reports
from tb_slowdown_plugin.collectors.graph_work.run_graph import RunGraph
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

UNITS = 256


@pytest.fixture
def writer(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=0) as found:
        yield found


def find(report):
    """In a step of one product, which reports of its weights, their gradient, and its loss."""
    weights = tf.Variable(tf.ones((UNITS, UNITS)))
    kept = []

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(tf.ones((8, UNITS)), weights))
        gradient = tape.gradient(loss, weights)
        kept.append(([loss], [gradient]))
        weights.assign_sub(gradient)
        report(weights, gradient, loss)
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_reports(StepGraph(*kept[-1]))
    del function
    return found


def write_histograms(weights, gradient, loss):
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("weights", weights)
    tf.summary.histogram("gradient", gradient[: UNITS // 2])


def test_histograms_are_most_of_a_small_step(writer):
    found = find(write_histograms)
    assert (found.summaries, found.prints) == (2, 0)
    assert found.operation.type == "WriteSummary"
    assert found.operation.name.startswith("weights/")  # the larger one
    assert found.share > 0.9


def test_printing_all_numbers_counts():
    found = find(lambda weights, *_: tf.print(weights, summarize=-1))
    assert (found.summaries, found.prints) == (0, 1)
    assert found.share > 0.9


def write_loss(weights, gradient, loss):
    tf.summary.scalar("loss", loss)
    tf.print("loss", loss)


def write_sometimes(weights, gradient, loss):
    with tf.summary.record_if(tf.equal(tf.cast(loss, tf.int64) % 100, 0)):
        tf.summary.histogram("weights", weights)


@pytest.mark.parametrize(
    "report", [write_loss, write_sometimes, lambda *_: None], ids=["loss", "sometimes", "nothing"]
)
def test_single_numbers_and_what_the_graph_decides_to_report_are_not_told(writer, report):
    assert find(report) is None


def test_an_evaluation_is_not_counted_only_what_is_made_of_its_results(writer):
    other = tf.Variable(tf.ones((4 * UNITS, 4 * UNITS)))

    def evaluate(*_):
        outputs = tf.matmul(other, tf.matmul(other, other))
        tf.summary.histogram("outputs", outputs[:2])

    assert find(evaluate).share < 0.2


def test_of_a_session_what_is_fetched_counts():
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        weights = v1.get_variable("weights", (UNITS, UNITS))
        loss = tf.reduce_sum(tf.matmul(tf.ones((8, UNITS)), weights), name="loss")
        v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        v1.summary.histogram("weights", weights)
        v1.summary.histogram("some", weights[:8])
        v1.summary.scalar("loss", loss)
        merged = v1.summary.merge_all()
    found = find_reports(RunGraph(graph, ["train", "loss:0", merged.name]))
    assert (found.summaries, found.prints) == (2, 0)
    assert found.operation.type == "HistogramSummary"
    assert found.share > 0.9
    assert find_reports(RunGraph(graph, ["train", "loss:0"])) is None
