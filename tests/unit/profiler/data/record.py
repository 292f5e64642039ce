"""Records the captures beside this file, and what XProf says of them (`xprof.json`).

In an environment with TensorFlow: `python record.py captures FOLDER`; in one with
XProf 2.24 (`.venv-xprof`, which scripts/test makes): `python record.py numbers FOLDER`.
`python record.py ask FILE...` prints what XProf says of any captures.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("heavy", "retrace")


def record(folder: Path) -> None:
    """Ten steps fed by a slow map, and ten of which one is traced again."""
    import tensorflow as tf

    square = tf.ones((400, 400))
    for name in NAMES:

        def load(number: tf.Tensor, name: str = name) -> tf.Tensor:
            number = tf.cast(number, tf.float32)
            return tf.reduce_sum(square @ (square * number)) if name == "heavy" else number

        model = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()
        model.build((None, 1))
        optimizer.build(model.trainable_variables)

        @tf.function
        def step(x, factor, model=model, optimizer=optimizer):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(tf.reshape(x, (-1, 1))) ** 2) * factor
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

        data = iter(tf.data.Dataset.range(10**9).map(load).batch(16).prefetch(1))
        for _ in range(5):
            step(next(data), 1)
        tf.profiler.experimental.start(str(folder / name))
        for number in range(10):
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                step(next(data), 1 + (name == "retrace" and number >= 5))
        tf.profiler.experimental.stop()
        (path,) = (folder / name).glob("plugins/profile/*/*.xplane.pb")
        (HERE / f"{name}.xplane.pb.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))


def ask_xprof(path: Path) -> dict:
    """Step times, waits for data and totals of operations, as XProf converts one file.

    It keeps what it made beside the file.
    """
    from xprof.convert import raw_to_tool_data

    def tool(name: str) -> list[dict] | dict:
        return json.loads(raw_to_tool_data.xspace_to_tool_data([str(path)], name, {})[0])

    steps = [t for t in tool("input_pipeline_analyzer") if labels(t)[:1] == ["Step number"]]
    memory = tool("memory_profile")["memoryProfilePerAllocator"]
    return {
        "steps": {
            row[0].rpartition(" ")[2]: {
                "seconds": sum(row[1:10]) / 1e3,
                "device": row[1] / 1e3,
                "input": row[6] / 1e3,
                "output": row[7] / 1e3,
            }
            for row in (values(steps[0]) if steps else [])
        },
        "operations": {
            f"{row[3]}:{row[2]}": row[5] / 1e6
            for row in values(tool("framework_op_stats")[0])
            if row[5] >= 10.0
        },
        "peak_bytes": {
            allocator: int(said["profileSummary"]["peakBytesUsageLifetime"])
            for allocator, said in memory.items()
        },
    }


def keep_numbers(folder: Path) -> None:
    """Writes what XProf says of the captures beside this file."""
    numbers = {}
    for name in NAMES:
        path = folder / name / "vm.xplane.pb"
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.decompress((HERE / f"{name}.xplane.pb.gz").read_bytes()))
        numbers[name] = ask_xprof(path)
    (HERE / "xprof.json").write_text(json.dumps(numbers, indent=1) + "\n")


def labels(table: dict) -> list[str]:
    return [column["label"] for column in table.get("cols", [])]


def values(table: dict) -> list[list]:
    return [[(cell or {}).get("v") for cell in row["c"]] for row in table["rows"]]


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        sys.stdout.write(json.dumps([ask_xprof(Path(path)) for path in sys.argv[2:]]))
    else:
        {"captures": record, "numbers": keep_numbers}[sys.argv[1]](Path(sys.argv[2]))
