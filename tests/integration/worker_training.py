"""One of several local workers that train together; started by `test_workers.py`.

Arguments: index of the worker, ports of all workers, seconds that this one is late, log
directory, and "in_turn" if it is late in its turn only, else in each step.
"""

import json
import os
import sys
import time

index, ports, late, logdir = (
    int(sys.argv[1]),
    sys.argv[2].split(","),
    float(sys.argv[3]),
    sys.argv[4],
)
in_turn = sys.argv[5:] == ["in_turn"]
os.environ["TF_CONFIG"] = json.dumps(
    {
        "cluster": {"worker": [f"localhost:{port}" for port in ports]},
        "task": {"type": "worker", "index": index},
    }
)
import tensorflow as tf  # noqa: E402

import tbslow  # noqa: E402
from tb_slowdown_plugin.collectors.graph_timing import graph_account  # noqa: E402

if in_turn:
    # A wait is read in the step that had it, not in one of the next, which is another's turn.
    graph_account._REST_NS = graph_account._REST_LOSING_NS = (0, 0)

ring = tf.distribute.experimental.CommunicationImplementation.RING
strategy = tf.distribute.MultiWorkerMirroredStrategy(
    communication_options=tf.distribute.experimental.CommunicationOptions(implementation=ring)
)
with strategy.scope():
    weights = tf.Variable(tf.ones((64, 64)))
batch = tf.ones((32, 64))


@tf.function
def train_step(batch):
    def replica_step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((batch @ weights) ** 2)
        gradient = tape.gradient(loss, weights)
        gradient = tf.distribute.get_replica_context().all_reduce("mean", gradient)
        weights.assign_sub(1e-6 * gradient)
        return loss

    return strategy.run(replica_step, args=(batch,))


with tbslow.start(logdir):
    for number in range(120):
        with tbslow.summary.step(number):
            if not in_turn or number % len(ports) == index:
                time.sleep(late)
            train_step(batch)
# Leaving in the usual way waits for the other workers' clean end, which is not our matter.
os._exit(0)
