"""Two workers train together; the second one reads its data more slowly, and both pay for it."""

import json
import os
import socket
import subprocess
import sys
import time

STEPS = 400
WORKERS = 2


def main(logdir: str, index: int) -> None:
    # TF_CONFIG is read when TensorFlow makes the strategy.
    import tensorflow as tf

    import tbslow

    tf.config.threading.set_intra_op_parallelism_threads(1)
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=tf.distribute.experimental.CommunicationImplementation.RING
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    with strategy.scope():
        weights = tf.Variable(tf.random.stateless_normal([512, 64], seed=[1, 2]))

    def load(i):
        time.sleep(0.012 if index == 1 else 0.001)  # a slower disk
        return i

    def read(i):
        i = tf.ensure_shape(tf.numpy_function(load, [i], tf.int64), [])
        return tf.random.stateless_normal([256, 512], seed=[i, 3])

    @tf.function
    def train_step(features):
        def replica_step(features):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.tanh(features @ weights)))
            gradient = tape.gradient(loss, weights)
            gradient = tf.distribute.get_replica_context().all_reduce("mean", gradient)
            weights.assign_sub(0.01 * gradient)
            return loss

        return strategy.run(replica_step, args=(features,))

    with tbslow.start(logdir):
        for features in tbslow.data(tf.data.Dataset.range(STEPS).map(read)):
            with tbslow.summary.step(items=256):
                train_step(features)
    os._exit(0)  # an orderly end would wait for the other worker's


def start_workers(logdir: str) -> int:
    sockets = [socket.create_server(("localhost", 0)) for _ in range(WORKERS)]
    addresses = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    started = []
    for index in range(WORKERS):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        environment = {**os.environ, "TF_CONFIG": json.dumps(task)}
        started.append(subprocess.Popen([sys.executable, __file__, logdir], env=environment))
    return max(worker.wait() for worker in started)


if __name__ == "__main__":
    if "TF_CONFIG" in os.environ:
        main(sys.argv[1], json.loads(os.environ["TF_CONFIG"])["task"]["index"])
    else:
        sys.exit(start_workers(sys.argv[1]))
