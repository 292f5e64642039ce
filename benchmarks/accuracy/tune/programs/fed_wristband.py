"""FedAvg on wearable accelerometer windows (non-iid users), tf.keras."""

import argparse
import random
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--users", type=int, default=12)
parser.add_argument("--frac", type=float, default=0.5)
parser.add_argument("--windows", type=int, default=1600)
parser.add_argument("--bs", type=int, default=32)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--seed", type=int, default=7)
args = parser.parse_args()

N_CLASSES = 5
random.seed(args.seed)
np.random.seed(args.seed)
tf.random.set_seed(args.seed)


def synth_windows(n, probs, phase):
    """3-axis signals, class decides the dominant frequency and amplitude."""
    y = np.random.choice(N_CLASSES, size=n, p=probs)
    t = np.linspace(0, 2.56, 64)[None, :, None]
    freq = (0.7 + 0.9 * y)[:, None, None] + 0.1 * np.random.randn(n, 1, 1)
    axes = np.array([0.0, 0.6, 1.3])[None, None, :]
    x = np.sin(2 * np.pi * freq * t + axes + phase)
    x *= (0.5 + 0.2 * y)[:, None, None]
    x += 0.4 * np.random.randn(n, 64, 3)
    return x.astype("float32"), y.astype("int32")


def build_users():
    users = {}
    for u in range(args.users):
        probs = np.random.dirichlet([0.8] * N_CLASSES)
        users[f"user_{u:02d}"] = synth_windows(args.windows, probs, np.random.rand() * 3)
    return users


def make_model():
    m = keras.Sequential(
        [
            keras.layers.Input((64, 3)),
            keras.layers.Conv1D(24, 5, strides=2, activation="relu"),
            keras.layers.Conv1D(48, 5, strides=2, activation="relu"),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(N_CLASSES, activation="softmax"),
        ]
    )
    return m


def weighted_average(weight_sets, sizes):
    total = float(sum(sizes))
    out = []
    for layer in zip(*weight_sets):
        out.append(sum(w * (s / total) for w, s in zip(layer, sizes)))
    return out


def main():
    users = build_users()
    x_test, y_test = synth_windows(2000, [1 / N_CLASSES] * N_CLASSES, 0.5)

    global_model = make_model()
    global_model.compile(loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    n_sel = max(1, int(args.frac * args.users))

    t0 = time.time()
    for rnd in range(args.rounds):
        picked = random.sample(sorted(users), n_sel)
        weights, sizes, losses = [], [], []
        start = global_model.get_weights()
        for name in picked:
            x, y = users[name]
            local_model = keras.models.clone_model(global_model)
            local_model.compile(
                optimizer=keras.optimizers.SGD(args.lr),
                loss="sparse_categorical_crossentropy",
            )
            local_model.set_weights(start)
            h = local_model.fit(x, y, batch_size=args.bs, epochs=1, verbose=0)
            weights.append(local_model.get_weights())
            sizes.append(len(x))
            losses.append(h.history["loss"][-1])
        global_model.set_weights(weighted_average(weights, sizes))
        loss, acc = global_model.evaluate(x_test, y_test, batch_size=500, verbose=0)
        print(
            f"comm_round: {rnd} | clients {n_sel} | local_loss {np.mean(losses):.3f} "
            f"| global_acc: {acc:.3%} | global_loss: {loss:.4f} | {time.time() - t0:.1f}s"
        )


if __name__ == "__main__":
    main()
