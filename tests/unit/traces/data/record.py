"""Records the captures beside this file, and what XProf says of them (`xprof.json`).

In an environment with TensorFlow: `python record.py captures FOLDER`; in one with
XProf 2.24 (400 MB, so not among our development tools): `python record.py numbers FOLDER`.
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


def ask_xprof(folder: Path) -> None:
    """Step times, waits for data and totals of operations, as XProf converts the files."""
    from xprof.convert import raw_to_tool_data

    numbers = {}
    for name in NAMES:
        path = folder / name / "vm.xplane.pb"  # XProf keeps what it made beside the file
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.decompress((HERE / f"{name}.xplane.pb.gz").read_bytes()))

        def tool(name: str, path: Path = path) -> list[dict]:
            return json.loads(raw_to_tool_data.xspace_to_tool_data([str(path)], name, {})[0])

        (steps,) = (t for t in tool("input_pipeline_analyzer") if labels(t)[:1] == ["Step number"])
        memory = tool("memory_profile")["memoryProfilePerAllocator"]
        numbers[name] = {
            "steps": {
                row[0].removeprefix("train "): {
                    "seconds": sum(row[1:10]) / 1e3,
                    "input": row[6] / 1e3,
                }
                for row in values(steps)
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
    (HERE / "xprof.json").write_text(json.dumps(numbers, indent=1) + "\n")


def labels(table: dict) -> list[str]:
    return [column["label"] for column in table.get("cols", [])]


def values(table: dict) -> list[list]:
    return [[(cell or {}).get("v") for cell in row["c"]] for row in table["rows"]]


if __name__ == "__main__":
    {"captures": record, "numbers": ask_xprof}[sys.argv[1]](Path(sys.argv[2]))
