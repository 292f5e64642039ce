"""Two workers train together; from step 200 on the second one comes 30 ms late to each step.

Where a worker's device would compute, its training thread sleeps: on one machine two workers
that compute would take each other's cores.
"""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import injector

STEPS = 400
LATE_FROM = 200
LATE_SECONDS = 0.030
DEVICE_SECONDS = 0.020


def main(logdir, truth, healthy):
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(2)]
        for each in sockets:
            each.bind(("localhost", 0))
        addresses = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    arguments = [sys.executable, __file__, logdir, *(["--healthy"] if healthy else [])]
    workers = []
    for index in range(2):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        environment = {**os.environ, "TF_CONFIG": json.dumps(task), "OMP_NUM_THREADS": "1"}
        workers.append(subprocess.Popen(arguments, env=environment))
    if any(worker.wait() for worker in workers):
        raise SystemExit("a worker failed")
    truth.usually(0.0)
    for step in range(LATE_FROM, STEPS):
        truth.add(step, LATE_SECONDS)


def train(logdir, late):
    import ordinary
    import tensorflow as tf

    import tbslow

    ring = tf.distribute.experimental.CommunicationImplementation.RING
    strategy = tf.distribute.MultiWorkerMirroredStrategy(
        communication_options=tf.distribute.experimental.CommunicationOptions(implementation=ring)
    )
    x, y = ordinary.samples(1)
    with strategy.scope():
        net = ordinary.model(64)

    @tf.function
    def train_step():
        def replica_step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((net(x) - y) ** 2)
            gradients = tape.gradient(loss, net.trainable_variables)
            gradients = tf.distribute.get_replica_context().all_reduce("mean", gradients)
            for weights, gradient in zip(net.trainable_variables, gradients, strict=True):
                weights.assign_sub(0.001 * gradient)
            return loss

        return strategy.run(replica_step)

    with tbslow.start(logdir):
        for i in range(STEPS):
            with tbslow.summary.step():
                ordinary.device(DEVICE_SECONDS)()
                if late and i >= LATE_FROM:
                    time.sleep(LATE_SECONDS)
                train_step()
    # Leaving in the usual way waits for the other worker's clean end, which is not our matter.
    os._exit(0)


if __name__ == "__main__":
    if "TF_CONFIG" in os.environ:
        index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
        train(sys.argv[1], late=index == 1 and "--healthy" not in sys.argv)
    injector.run("communication", main)
