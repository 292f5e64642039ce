"""Summaries, prints, and metrics of a step's graph: the line, and how to make fewer."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import counted, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.counted_work import BOOKED
from tb_slowdown_plugin.catalog.events import GRAPH_REPORT, METRIC_WORK


def claim_reports(case: Case, reports: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    tells = {GRAPH_REPORT: _tell, METRIC_WORK: _tell_metrics}
    return claim_counted(case, reports, tells, "callbacks")


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    summaries, prints = round(numbers["summaries"]), round(numbers["prints"])
    kinds = [counted(summaries, "summary", "summaries")] * bool(summaries)
    kinds += [counted(prints, "print")] * bool(prints)
    is_run = numbers.get(BOOKED, 0) > 0
    where = f"which {place} fetches" if is_run else f"most of it in {place}"
    in_graph = _run_seldom if is_run else _write_seldom
    return CountedWork(
        f"{'summaries' if summaries else 'prints'} in the step's graph",
        f"Each step makes {' and '.join(kinds)} inside of its graph, {where}.",
        ", by the numbers that the graph reads and writes for that. They are part of the graph, so "
        "no clock can tell",
        (in_graph if summaries else _print_seldom)(place),
    )


def _tell_metrics(numbers: Mapping[str, float], place: str) -> CountedWork:
    metrics = counted(round(numbers["metrics"]), "metric")
    is_compiled = numbers["compiled"] > 0
    if numbers.get("kept", 0.0) > 0:
        does = "computes"
        counted_by = (
            ", by which steps take longer than those in which it keeps little: each computes on "
            "all that it keeps by then, which gets more until it is reset"
        )
    else:
        does = "updates"
        counted_by = f": {percent(numbers['share'])} of what the step's graph computes is for that"
    return CountedWork(
        "metrics in the step's graph",
        f"Each step {does} {metrics} inside of its graph, most of it in {place}. Nothing else "
        "needs what is computed for that.",
        f"{counted_by}. It is part of the graph, so no clock can tell",
        (_measure_after_epochs if is_compiled else _update_seldom)(place),
    )


def _write_seldom(place: str) -> Advice:
    return Advice(
        "Write them every 100 steps. Inside of a `tf.function` the condition has to be a tensor.",
        snippet(
            old("tf.summary.histogram(name, weights)"),
            new("with tf.summary.record_if(tf.equal(step % 100, 0)):"),
            new("    tf.summary.histogram(name, weights)"),
        ),
        "The plots have one point for 100 steps.",
        f"in `{place}`",
    )


def _run_seldom(place: str) -> Advice:
    return Advice(
        "Fetch the summaries every 100 steps.",
        snippet(
            old("_, report = session.run([train, summaries], feed)"),
            old("writer.add_summary(report, step)"),
            new("session.run(train, feed)"),
            new("if step % 100 == 0:"),
            new("    writer.add_summary(session.run(summaries, feed), step)"),
        ),
        "The plots have one point for 100 steps, of weights after the update.",
        f"in `{place}`",
    )


def _print_seldom(place: str) -> Advice:
    return Advice(
        "Print every 100 steps, and a measure instead of all numbers.",
        snippet(
            old("tf.print(gradients, summarize=-1)"),
            new("if step % 100 == 0:"),
            new("    tf.print(tf.linalg.global_norm(gradients))"),
        ),
        "The numbers themselves are not printed.",
        f"in `{place}`",
    )


def _measure_after_epochs(place: str) -> Advice:
    return Advice(
        "Measure it after each epoch: a metric that `compile` is given is computed in each step of "
        "the training, too.",
        snippet(
            old('model.compile("adam", "binary_crossentropy", metrics=[measure])'),
            old("model.fit(data)"),
            new('model.compile("adam", "binary_crossentropy")'),
            new("def measure_epoch(epoch, logs):"),
            new("    measure.reset_state()"),
            new("    for x, y in validation_data:"),
            new("        measure.update_state(y, model(x, training=False))"),
            new("    print(float(measure.result()))"),
            new(
                "model.fit(data, callbacks=[keras.callbacks.LambdaCallback("
                "on_epoch_end=measure_epoch)])"
            ),
        ),
        "It is no longer known of the examples that are trained with, nor in `logs`, where "
        "`EarlyStopping` or `ModelCheckpoint` may look for it.",
        f"in `{place}`",
    )


def _update_seldom(place: str) -> Advice:
    return Advice(
        "Have the step return what the metric needs, and update it every 100 steps.",
        snippet(
            old("loss = train_step(x, y)  # updates the metric"),
            new("loss, y_pred = train_step(x, y)"),
            new("if step % 100 == 0:"),
            new("    metric.update_state(y, y_pred)"),
        ),
        "The metric is then that of one batch in 100.",
        f"in `{place}`",
    )
