"""The census of live tensors: when it is taken, what it tells, and that it keeps to its budget."""

from itertools import pairwise

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.memory import live_tensors
from tb_slowdown_plugin.collectors.memory.live_tensors import LiveTensors
from tb_slowdown_plugin.collectors.memory.reachable_tensors import HeldTensors
from tb_slowdown_plugin.collectors.memory.tensor_census import Census, TensorGroup
from tb_slowdown_plugin.collectors.memory.tensor_holders import Holder
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

HERE = "tests/unit/collectors/memory/test_live_tensors.py"


class Machine:
    """A collector whose memory and clock the test sets; a census takes `seconds`."""

    def __init__(self, recording, monkeypatch):
        self.now = 0.0
        self.rss = 1e9
        self.seconds = 0.1
        self.count = 0
        self.censuses = []
        self.looks = []
        self.variables = {}
        recording.clock = Clock(monotonic_ns=lambda: int(self.now * 1e9))
        recording.__post_init__()
        monkeypatch.setattr(live_tensors, "take_census", self.take)
        monkeypatch.setattr(live_tensors, "find_holder", self.find_holder)
        monkeypatch.setattr(live_tensors.sys, "getallocatedblocks", lambda: 1_250_000)
        monkeypatch.setattr(live_tensors, "ReachableTensors", lambda *_: self)
        self.collector = LiveTensors()
        self.collector.start(recording.context)
        for memory in self.collector._memories:
            memory.stop()
        self.collector._memories = [self]

    def read(self):
        return {"rss_bytes": self.rss}

    def stop(self):
        pass

    def take(self, tensor_class):
        self.now += self.seconds
        self.count += 100
        self.censuses.append(self.now)
        return Census(self.count, 4 * self.count, (TensorGroup("float32 ()", self.count, 4, []),))

    def find(self, thread, scripts, most):
        """What variables hold, in MiB."""
        self.looks.append(self.now)
        return [
            HeldTensors(
                Holder(f"list `{name}`", "train (train.py:9)"),
                TensorGroup("float32 ()", 1, held << 20),
            )
            for name, held in self.variables.items()
        ]

    def find_holder(self, samples, thread, places, scripts, may_go_on):
        for _ in range(2):
            if not may_go_on():
                return Holder("")
            self.now += self.seconds
        return Holder("list `losses`", "train (train.py:9)")

    def run(self, reads, growth, interval=1.0):
        values = []
        for _ in range(reads):
            self.now += interval
            self.rss += growth
            values.append(self.collector.read())
        return [each for each in values if each]


@pytest.fixture
def machine(recording, monkeypatch):
    return Machine(recording, monkeypatch)


def test_steady_memory_is_no_reason_for_a_census(machine):
    assert machine.run(5_000, growth=0) == []
    assert machine.censuses == []


def test_growing_memory_is_looked_into_within_half_a_percent(recording, machine):
    found = machine.run(3_000, growth=2e6)
    assert found[0] == {"live_tensors": 100, "live_tensor_bytes": 400}
    spent = sum(1 for _ in machine.censuses) * machine.seconds
    told = [fact for fact in recording.of(Fact) if "losses" in fact.subject]
    holders = [fact for fact in told if fact.name == "tensor_census"]
    spent += len(holders) * 2 * machine.seconds
    assert spent <= 0.005 * machine.now
    assert spent >= 0.001 * machine.now  # it does use what it has
    assert holders[0].subject == "float32 () in list `losses`"
    assert set(holders[0].numbers) == {"count", "bytes", "live_tensors", "live_tensor_bytes"}
    (place,) = {fact.subject for fact in told if fact.name == "tensors_added_at"}
    assert place == "train (train.py:9)|float32 () in list `losses`"


def test_the_first_census_waits_until_it_can_be_afforded(machine):
    # 1.25 million blocks: 0.1 s, so not in the first 20 s
    machine.run(19, growth=5e6)
    assert machine.censuses == []
    machine.run(10, growth=5e6)
    assert len(machine.censuses) == 1


def test_memory_that_grows_without_tensors_is_looked_at_ever_more_rarely(machine):
    machine.run(3_000, growth=2e6)
    usual = len(machine.censuses)
    count = machine.count

    def same(tensor_class):
        machine.now += machine.seconds
        machine.censuses.append(machine.now)
        return Census(count, 4 * count, ())

    live_tensors.take_census = same  # the fixture's monkeypatch puts it back
    machine.run(3_000, growth=2e6)
    assert len(machine.censuses) - usual < usual / 2


@pytest.mark.parametrize(("growth", "named"), [(2e6, 1), (0.0, 0)])
def test_at_the_end_of_a_short_run_whose_memory_rose_it_is_looked_once(
    recording, machine, growth, named
):
    machine.read = lambda: {"allocator_in_use_bytes:CPU:0": machine.rss}
    machine.run(9, growth=growth)
    assert machine.censuses == []
    machine.collector.stop()
    assert len(machine.censuses) == named
    assert len([fact for fact in recording.of(Fact) if "losses" in fact.subject]) == 2 * named


def test_who_is_named_already_is_not_looked_for_at_the_end(machine):
    machine.read = lambda: {"allocator_in_use_bytes:CPU:0": machine.rss}
    machine.run(200, growth=2e6)
    before = len(machine.censuses)
    machine.collector.stop()
    assert len(machine.censuses) == before > 0


def test_a_variable_that_holds_ever_more_is_told_at_once_and_ever_more_rarely(recording, machine):
    machine.variables = {"train_images": 900, "history": 2}
    for _ in range(40):
        machine.variables["history"] += 2
        machine.run(10, growth=5e5)
    told = [fact for fact in recording.of(Fact) if fact.name == "tensor_census"]
    of_variables = [fact for fact in told if "grown" in fact.numbers]
    assert {fact.subject for fact in of_variables} == {"float32 () in list `history`"}
    first = machine.looks[0]
    assert of_variables[0].numbers["grown"] >= 4 << 20
    waits = [later - at for at, later in pairwise(machine.looks)]
    assert waits[:2] == pytest.approx([5, 5], abs=1)
    assert waits[-3:] == pytest.approx([40, 80, 160], abs=2)
    assert first <= 15
    named = [fact for fact in told if "losses" in fact.subject]
    assert named == [], "nobody else is looked for"


def test_a_list_that_is_filled_and_cleared_is_not_told(recording, machine):
    machine.variables = {"rollout": 2}
    for seconds in range(400):
        machine.variables["rollout"] = 2 + 9 * (len(machine.looks) % 2)
        machine.run(1, growth=2e6 if seconds else 0)
    assert len(machine.looks) > 5
    assert [fact for fact in recording.of(Fact) if "grown" in fact.numbers] == []


def test_a_variable_that_is_the_least_of_it_does_not_end_the_search(recording, machine):
    machine.variables = {"losses_of_epochs": 1}
    for _ in range(60):
        machine.variables["losses_of_epochs"] += 1
        machine.run(10, growth=2e7)
    assert [fact for fact in recording.of(Fact) if "`losses`" in fact.subject]


def test_while_memory_is_steady_variables_are_not_looked_at(machine):
    machine.variables = {"train_images": 900}
    machine.run(100, growth=0)
    assert machine.looks == []


def test_a_real_census_on_a_real_list(recording):
    now = 0
    recording.clock = Clock(monotonic_ns=lambda: now)
    recording.__post_init__()
    collector = LiveTensors()
    collector.start(recording.context)
    kept = []
    found = {}
    while not found:
        now += 30_000_000_000
        kept.extend([tf.zeros((512, 1024)) for _ in range(4)])  # 8 MiB
        found = collector.read()
    collector.stop()
    assert found["live_tensors"] >= len(kept)
    assert found["live_tensor_bytes"] >= len(kept) * 2**21
    fact, place = recording.of(Fact)[:2]
    assert fact.subject.startswith("float32 (512, 1024) in list `kept`")
    assert fact.numbers == {"count": 20, "bytes": 20 * 2**21, "grown": 8 * 2**21}
    counted = [each for each in recording.of(Fact) if "live_tensors" in each.numbers]
    assert (counted[0].subject, counted[0].numbers["bytes"]) == (
        "float32 (512, 1024)",
        len(kept) * 2**21,
    )
    code = test_a_real_census_on_a_real_list.__code__
    line = 10 + code.co_firstlineno  # of `kept.extend`
    assert place.subject == f"test_a_real_census_on_a_real_list ({HERE}:{line})|{fact.subject}"


def test_without_eager_execution_it_says_so(recording, monkeypatch):
    monkeypatch.setattr(tf.compat.v1, "executing_eagerly_outside_functions", lambda: False)
    with pytest.raises(Unavailable, match="eager execution is off"):
        LiveTensors().start(recording.context)


def test_without_any_memory_to_watch_it_says_so(recording, monkeypatch):
    def refuse(self, context):
        raise Unavailable("no numbers")

    monkeypatch.setattr(live_tensors.Allocator, "start", refuse)
    monkeypatch.setattr(live_tensors.ProcessMemory, "start", refuse)
    with pytest.raises(Unavailable, match="neither resident memory nor an allocator"):
        LiveTensors().start(recording.context)
