"""Short-horizon spread model for a thin currency pair.

The order-book replayer lives in its own process and speaks a tiny
length-prefixed protocol over localhost, the same as the desk's gateway.
"""

import argparse
import multiprocessing as mp
import os
import socket
import struct

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np

N_LEVELS = 24


def recv_exact(conn, n):
    buf = bytearray()
    while len(buf) < n:
        part = conn.recv(n - len(buf))
        if not part:
            return None
        buf += part
    return bytes(buf)


def book_replayer(port_box, seed):
    rng = np.random.default_rng(seed)
    depth = np.cumsum(rng.normal(size=(40000, N_LEVELS)).astype(np.float32) * 0.05, axis=0)
    depth -= depth.mean(0)
    target = np.tanh(depth[:, :4].sum(1) * 0.2) - 0.3 * depth[:, 7]
    srv = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    srv.bind(("127.0.0.1", 0))
    srv.listen(1)
    port_box.put(srv.getsockname()[1])
    conn, _ = srv.accept()
    while True:
        head = recv_exact(conn, 8)
        if head is None:
            break
        kind, size = struct.unpack("<ii", head)
        body = recv_exact(conn, size)
        if kind == 0:
            break
        idx = np.frombuffer(body, np.int32)
        rows = np.concatenate([depth[idx], target[idx, None]], axis=1).astype(np.float32)
        conn.sendall(struct.pack("<ii", 1, rows.nbytes) + rows.tobytes())
    conn.close()
    srv.close()


class Gateway:
    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port))

    def ask(self, kind, body):
        self.sock.sendall(struct.pack("<ii", kind, len(body)))
        self.sock.sendall(body)

    def quotes(self, idx):
        self.ask(1, idx.astype(np.int32).tobytes())
        _, size = struct.unpack("<ii", recv_exact(self.sock, 8))
        rows = np.frombuffer(recv_exact(self.sock, size), np.float32).reshape(len(idx), -1)
        return rows[:, :-1], rows[:, -1:]

    def close(self):
        self.ask(0, b"bye!")
        self.sock.close()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=150)
    ap.add_argument("--batch", type=int, default=1664)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()

    ctx = mp.get_context("fork")
    port_box = ctx.Queue()
    replayer = ctx.Process(target=book_replayer, args=(port_box, args.seed), daemon=True)
    replayer.start()
    gateway = Gateway(port_box.get())

    import tensorflow as tf

    tf.keras.utils.set_random_seed(args.seed)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(768, activation="gelu"),
            tf.keras.layers.Dense(768, activation="gelu"),
            tf.keras.layers.Dense(1),
        ]
    )
    model.build((None, N_LEVELS))
    opt = tf.keras.optimizers.Adam(5e-4)

    @tf.function
    def update(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.huber(y, model(x, training=True)))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    rng = np.random.default_rng(args.seed + 1)
    smooth = None
    for step in range(1, args.updates + 1):
        recent = min(40000, 4000 + step * 300)
        x, y = gateway.quotes(rng.integers(0, recent, args.batch))
        loss = float(update(x, y))
        smooth = loss if smooth is None else 0.95 * smooth + 0.05 * loss
        if step % 50 == 0:
            print(f"step {step:4d}  window {recent:6d}  huber {smooth:.5f}")
    gateway.close()
    replayer.join(timeout=5)
    print("done")


if __name__ == "__main__":
    main()
