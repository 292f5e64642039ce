"""A program can't see the hooks: every attribute of every library is what it was."""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf
from integration.training_host import TrainingHost

pytestmark = pytest.mark.tensorflow

DOCS = Path(__file__).parents[2] / "docs" / "hooks.md"

WALK = """
import gc, json, keras, library_walk, hooked_training, sysconfig
from tb_slowdown_plugin.collectors.hooks.method_hooks import replaced
from tb_slowdown_plugin.writer.on_slowdown.profile_on_slowdown import TensorFlowProfiler

here = os.path.dirname(logdir)
sysconfig.get_config_vars()  # made when it is asked for
tbslow.keras.SlowdownCallback  # loaded when it is named
hooked_training.train(here + "/warm", [hooked_training.Everywhere()])

plain = library_walk.attributes()
hooked_training.train(here + "/plain", [hooked_training.Everywhere()])
moves = library_walk.changed(plain, library_walk.attributes())  # without the monitor
plain, settings, known = library_walk.attributes(), library_walk.process(), gc.callbacks[:]
codes, threads = library_walk.codes(plain), threading.enumerate()
rows, looks, changed, settings_changed = set(), {}, set(), set()

def look():
    rows.update(replaced())
    for function, code in codes.items():
        if function.__code__ is not code and function not in looks:
            looks[function] = library_walk.looks(function)

def look_at_all():
    look()
    changed.update(library_walk.changed(plain, library_walk.attributes()) - moves)
    now = library_walk.process()
    settings_changed.update(name for name in settings if settings[name] != now[name])

monitor = tbslow.start(logdir)
look_at_all()
in_fit = hooked_training.Everywhere(look)
in_fit.on_train_end = lambda *_, **__: look_at_all()
hooked_training.train(here + "/seen", [in_fit, tbslow.keras.SlowdownCallback(logdir)])
profiler = TensorFlowProfiler()
profiler.start(here + "/profile", lambda: None)
look()
profiler.stop()
added = len(gc.callbacks) - len(known)
tbslow.stop()
with tf.summary.create_file_writer(here + "/idiom").as_default() as writer:
    for number in range(3):
        with tbslow.summary.step(number):
            look()
writer.close()

left = library_walk.process()
print(json.dumps({
    "rows": sorted(rows),
    "exchanged": sorted({f"{each.__module__}.{each.__qualname__}" for each in looks}),
    "differ": sorted({
        f"{each.__module__}.{each.__qualname__}: {name}"
        for each in looks
        for name, value in library_walk.looks(each).items() if value != looks[each][name]
    }),
    "attributes": len(plain),
    "changed": sorted(changed),
    "settings": sorted(settings_changed),
    "added": added,
    "left": {
        "changed": sorted(library_walk.changed(plain, library_walk.attributes()) - moves),
        "codes": [each.__qualname__ for each, code in codes.items() if each.__code__ is not code],
        "hooks": [each.by for each in replaced()],
        "settings": [name for name in settings if settings[name] != left[name]],
        "gc": gc.callbacks != known,
        "threads": [each.name for each in threading.enumerate() if each not in threads],
    },
}))
"""


@pytest.fixture(scope="module")
def walk(host: TrainingHost, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What was seen in a process before, under, and after the monitor."""
    done = host.run(WALK, tmp_path_factory.mktemp("walk") / "run")
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


def test_no_attribute_of_a_module_or_class_and_no_setting_changes(walk: dict[str, Any]) -> None:
    assert walk["attributes"] > 100_000
    assert walk["changed"] == []
    assert walk["settings"] == []
    assert walk["added"] == 1  # in `gc.callbacks`


def test_a_hooked_function_looks_as_it_does_without(walk: dict[str, Any]) -> None:
    assert len(walk["exchanged"]) >= 50
    assert walk["differ"] == []


def test_after_stop_all_is_back(walk: dict[str, Any]) -> None:
    assert walk["left"] == {
        "changed": [],
        "codes": ["enable_op_determinism"],  # graphs with clocks in them are left
        "hooks": ["op_determinism"],
        "settings": [],
        "gc": False,
        "threads": [],
    }


def test_what_is_replaced_is_what_the_hooks_report(walk: dict[str, Any]) -> None:
    assert walk["exchanged"] == sorted({place for place, _ in walk["rows"]})


def test_the_table_in_the_docs_is_what_is_replaced(walk: dict[str, Any]) -> None:
    version = ".".join(tf.__version__.split(".")[:2])
    table = [row for row in documented() if version in row.tested or version not in KNOWN]
    for row in table:
        assert [place for place, by in walk["rows"] if row.has(place, by)], row
    for place, by in walk["rows"]:
        assert len([row for row in table if row.has(place, by)]) == 1, (place, by)


KNOWN = ("2.16", "2.21")


class Row(NamedTuple):
    """A row of the table."""

    place: str
    collectors: list[str]
    tested: list[str]

    def has(self, place: str, by: str) -> bool:
        """Whether it is about this function and collector."""
        return by in self.collectors and fnmatch.fnmatchcase(place, self.place)


def documented() -> list[Row]:
    """The rows of the table of functions."""
    found = re.findall(r"(?m)^\| `([\w.*]+)` \| (.+?) \| .+ \| ([\d., ]+) \|$", DOCS.read_text())
    return [
        Row(place, re.findall("`(.+?)`", collectors), tested.split(", "))
        for place, collectors, tested in found
    ]
