"""The lines that make metrics, and the variables by which a graph tells them."""

import inspect

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.keras.metric_lines import MetricLines, metrics_by_handle

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")

HERE = "tests/unit/collectors/keras/test_metric_lines.py"


@pytest.fixture
def lines(traced):
    collector = MetricLines()
    collector.start(traced.context)
    yield collector
    collector.stop()


def places_of(metric):
    metrics = metrics_by_handle()
    return {metrics[id(variable._value.handle)].place for variable in metric.variables}


def test_each_variable_of_a_metric_has_the_line_that_made_it(lines):
    line = inspect.currentframe().f_lineno + 1
    area = keras.metrics.AUC(num_thresholds=10)
    assert places_of(area) == {f"AUC ({HERE}:{line})"}


def test_a_metric_of_the_program_is_made_where_its_class_is_called(lines):
    class Distance(keras.metrics.MeanSquaredError):
        def __init__(self):
            super().__init__(name="distance")

    line = inspect.currentframe().f_lineno + 1
    distance = Distance()
    assert places_of(distance) == {f"Distance ({HERE}:{line})"}


def test_one_that_is_gone_and_one_of_before_have_no_line(lines):
    keras.metrics.AUC(num_thresholds=10)
    assert metrics_by_handle() == {}
    assert hooked_by("metric_lines") == ["keras.src.metrics.metric.Metric.__init__"]
    lines.stop()
    assert hooked_by("metric_lines") == []
    kept = keras.metrics.AUC(num_thresholds=10)
    assert (kept.variables != [], metrics_by_handle()) == (True, {})


def test_of_a_strategy_each_device_has_a_variable(lines):
    tf = pytest.importorskip("tensorflow")
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with strategy.scope():
        mean = keras.metrics.Mean()
        metrics = metrics_by_handle()
    handles = [each.handle for variable in mean.variables for each in variable._value._values]
    assert len(handles) == 2
    assert {metrics[id(each)].number for each in handles} == {id(mean)}
