"""Cheese brine vats report over a socket, the listener thread hands the blocks
on, and the learner updates its salt-uptake model and a slow copy for serving."""

import os
import queue
import socket
import subprocess
import sys
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np

ROWS, PROBES = 1024, 32
BLOCK_BYTES = ROWS * (PROBES + 1) * 4
WARM_BLOCKS, BLOCKS = 40, 400

VATS = """
import socket, sys
import numpy as np
port, rows, probes, blocks = map(int, sys.argv[1:])
rng = np.random.default_rng(64)
w = rng.normal(size=(probes, 3)).astype(np.float32) / probes ** 0.5
with socket.create_connection(("127.0.0.1", port)) as s:
    for b in range(blocks):
        x = rng.standard_normal((rows, probes), dtype=np.float32)
        z = x @ w
        y = np.tanh(z[:, 0]) * z[:, 1] + 0.5 * np.sin(3 * z[:, 2]) + 0.002 * b
        s.sendall(np.concatenate([x, y[:, None]], 1).astype(np.float32).tobytes())
"""


class Listener(threading.Thread):
    def __init__(self, server, inbox):
        super().__init__(daemon=True, name="listener")
        self.server, self.inbox = server, inbox

    def run(self):
        conn, _ = self.server.accept()
        with conn:
            while True:
                block = np.empty((ROWS, PROBES + 1), np.float32)
                view = memoryview(block).cast("B")
                got = 0
                while got < BLOCK_BYTES:
                    k = conn.recv_into(view[got:])
                    if k == 0:
                        self.inbox.put(None)
                        return
                    got += k
                self.inbox.put(block)


def make_model(tf):
    return tf.keras.Sequential(
        [
            tf.keras.Input((PROBES,)),
            tf.keras.layers.Dense(896, activation="swish"),
            tf.keras.layers.Dense(896, activation="swish"),
            tf.keras.layers.Dense(1),
        ]
    )


def main():
    server = socket.create_server(("127.0.0.1", 0))
    inbox = queue.Queue(maxsize=16)
    Listener(server, inbox).start()
    vats = subprocess.Popen(
        [
            sys.executable,
            "-c",
            VATS,
            str(server.getsockname()[1]),
            str(ROWS),
            str(PROBES),
            str(BLOCKS),
        ]
    )

    import tensorflow as tf

    tf.keras.utils.set_random_seed(12)
    model, served = make_model(tf), make_model(tf)
    served.set_weights(model.get_weights())
    opt = tf.keras.optimizers.SGD(0.02, momentum=0.9, nesterov=True)
    opt.build(model.trainable_variables)

    @tf.function
    def learn(block, rate):
        opt.learning_rate.assign(rate)
        x, y = block[:, :-1], block[:, -1:]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        opt.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        return loss

    @tf.function
    def refresh():
        for s, m in zip(served.trainable_variables, model.trainable_variables):
            s.assign_add(0.3 * (m - s))

    @tf.function
    def serve(x):
        return served(x, training=False)

    seen, losses, history = 0, [], []
    t0 = time.time()
    while True:
        block = inbox.get()
        if block is None:
            break
        seen += 1
        rate = 0.02 * min(1.0, seen / WARM_BLOCKS)
        losses.append(float(learn(tf.constant(block), tf.constant(rate, tf.float32))))
        if seen % 10 == 0:
            refresh()
        if seen % 100 == 0:
            guess = serve(tf.constant(block[:, :-1])).numpy()
            gap = float(np.sqrt(np.mean((guess - block[:, -1:]) ** 2)))
            history.append(gap)
            print(
                f"block {seen}: loss {np.mean(losses[-100:]):.4f}  served rmse {gap:.3f}  backlog {inbox.qsize()}"
            )
    vats.wait()
    server.close()
    print(
        f"{seen} blocks in {time.time() - t0:.1f} s, rmse went {history[0]:.3f} -> {history[-1]:.3f}"
    )


if __name__ == "__main__":
    main()
