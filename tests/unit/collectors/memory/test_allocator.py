"""Allocator statistics: of a real TensorFlow, without making it set up its devices."""

import os
import subprocess
import sys
import textwrap

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.memory.allocator import Allocator

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}


def run_afresh(program, **environment):
    """The output of a fresh process, for what TensorFlow decides when it is imported."""
    return said_by(
        subprocess.run(
            [sys.executable, "-c", "import tensorflow as tf" + PRELUDE + textwrap.dedent(program)],
            env={**os.environ, **NO_GPU, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
    )


@pytest.fixture
def run(host, tmp_path):
    """Gives the output of a process in which TensorFlow has not been used yet."""

    def run(program, **environment):
        set_first = 'os.environ.update(given["environment"])'
        body = set_first + PRELUDE + textwrap.dedent(program)
        return said_by(host.run(body, tmp_path, environment={**NO_GPU, **environment}))

    return run


def said_by(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


PRELUDE = """
from tb_slowdown_plugin.collectors.memory.allocator import Allocator
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
clock = Clock()
context = Context(clock, Stopwatch(clock.monotonic_ns), print, print)
collector = Allocator()
"""


def test_the_devices_stay_configurable_until_the_program_uses_them(run):
    """And with the BFC allocator on the CPU, in-use and peak follow the tensors."""
    printed = run(
        """
        collector.start(context)
        assert collector.read() == {}
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0],
            [tf.config.LogicalDeviceConfiguration()] * 2,
        )
        kept = tf.zeros(1 << 20)
        first = collector.read()
        grown = [tf.zeros(1 << 20), tf.zeros(1 << 20)]
        second = collector.read()
        del grown
        third = collector.read()
        use, peak = "allocator_in_use_bytes:CPU:0", "allocator_peak_bytes:CPU:0"
        print((second[use] - first[use]) >> 20, (third[use] - first[use]) >> 20,
              (third[peak] - first[peak]) >> 20, all(":CPU:" in name for name in first),
              first["allocator_limit_bytes:CPU:0"] >> 20)
        """,
        TF_CPU_ALLOCATOR_USE_BFC="1",
        TF_CPU_BFC_MEM_LIMIT_IN_MB="256",
    )
    assert printed == "8 0 8 True 256"


def test_an_allocator_without_statistics_is_named():
    printed = run_afresh(
        """
        tf.zeros(1)
        try:
            collector.start(context)
        except Unavailable as why:
            print(why)
        """,
        TF_ENABLE_ONEDNN_OPTS="0",
    )
    assert printed == "no allocator of CPU:0 keeps statistics"


def test_without_eager_execution_it_says_so(run):
    printed = run(
        """
        tf.compat.v1.disable_eager_execution()
        try:
            collector.start(context)
        except Unavailable as why:
            print(why)
        """
    )
    assert printed == "eager execution is off, and sessions report no allocator statistics"


def test_a_device_that_stops_answering_is_left_out_but_the_others_stay(recording, monkeypatch):
    tf.zeros(1)

    def only_the_second(device):
        if device == "CPU:0":
            raise ValueError("Allocator stats not available")
        return {"current": 5, "peak": 9}

    class Device:
        def __init__(self, name):
            self.name = name

    monkeypatch.setattr(tf.config.experimental, "get_memory_info", only_the_second)
    monkeypatch.setattr(
        tf.config,
        "list_logical_devices",
        lambda: [Device("/device:CPU:0"), Device("/device:GPU:0")],
    )
    collector = Allocator()
    collector.start(recording.context)
    assert collector.read() == {
        "allocator_in_use_bytes:GPU:0": 5,
        "allocator_peak_bytes:GPU:0": 9,
    }


def test_limits_that_the_program_has_set_are_told(recording, monkeypatch):
    tf.zeros(1)

    class Named:
        def __init__(self, name):
            self.name = name
            self.device_type = name.split(":")[-2]

    one, two = Named("/physical_device:GPU:0"), Named("/physical_device:GPU:1")
    limited = tf.config.LogicalDeviceConfiguration(memory_limit=512)
    configurations = {one: [limited, tf.config.LogicalDeviceConfiguration()], two: [limited]}
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda: [one, two])
    monkeypatch.setattr(tf.config, "get_logical_device_configuration", configurations.get)
    devices = [Named(f"/device:GPU:{number}") for number in range(3)]
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda: devices)
    monkeypatch.setattr(
        tf.config.experimental, "get_memory_info", lambda device: {"current": 5, "peak": 9}
    )
    collector = Allocator()
    collector.start(recording.context)
    told = {name: value for name, value in collector.read().items() if "limit" in name}
    assert told == {
        "allocator_limit_bytes:GPU:0": 512 << 20,
        "allocator_limit_bytes:GPU:2": 512 << 20,
    }


def test_no_device_at_all_is_unavailable(recording, monkeypatch):
    tf.zeros(1)
    monkeypatch.setattr(
        tf.config.experimental, "get_memory_info", lambda device: (_ for _ in ()).throw(ValueError)
    )
    with pytest.raises(Unavailable, match="no allocator of CPU:0"):
        Allocator().start(recording.context)
