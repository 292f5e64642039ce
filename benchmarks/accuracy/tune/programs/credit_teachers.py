"""Two teachers on different halves of a tabular set, then a compiled student
that learns from their averaged logits."""

import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(12)


def applicants(n, columns=80):
    rng = np.random.default_rng(12)
    x = rng.normal(size=(n, columns))
    x[:, ::4] = rng.integers(0, 5, x[:, ::4].shape)
    risk = np.tanh(x[:, :10] @ rng.normal(size=10) * 0.3) + 0.5 * (x[:, 4] > 2) * x[:, 11]
    y = risk + rng.logistic(0, 0.3, n) > 0.3
    return x.astype("float32"), y.astype("float32")


def teacher(columns, name):
    inp = keras.Input((columns,))
    h = keras.layers.Dense(768)(inp)
    for _ in range(3):
        r = keras.layers.LayerNormalization()(h)
        r = keras.layers.Dense(768, activation="gelu")(r)
        h = keras.layers.Add()([h, keras.layers.Dropout(0.1)(r)])
    return keras.Model(inp, keras.layers.Dense(1)(h), name=name)


def pipeline(x, y, batch):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(8192)
    return ds.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


class Student(tf.Module):
    def __init__(self, columns, name=None):
        super().__init__(name=name)
        sizes = [columns, 512, 512, 512, 256, 1]
        self.w = [
            tf.Variable(keras.initializers.GlorotUniform(seed=i)((a, b)))
            for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:]))
        ]
        self.b = [tf.Variable(tf.zeros([s])) for s in sizes[1:]]
        self.mom = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.w + self.b]

    def __call__(self, x):
        for i, (w, b) in enumerate(zip(self.w, self.b)):
            x = x @ w + b
            if i < len(self.w) - 1:
                x = tf.nn.relu(x)
        return x

    @tf.function(jit_compile=True)
    def distil(self, x, soft, lr):
        params = self.w + self.b
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(soft, self(x)))
        for p, m, g in zip(params, self.mom, tape.gradient(loss, params)):
            m.assign(0.9 * m + g)
            p.assign_sub(lr * m)
        return loss


def main():
    x, y = applicants(16_384)
    halves = np.array_split(np.random.default_rng(0).permutation(len(x)), 2)
    t0 = time.time()
    teachers = []
    with tempfile.TemporaryDirectory() as tmp:
        for k, rows in enumerate(halves):
            net = teacher(x.shape[1], f"teacher_{k}")
            net.compile(
                keras.optimizers.AdamW(3e-4), keras.losses.BinaryCrossentropy(from_logits=True)
            )
            net.fit(pipeline(x[rows], y[rows], 512), epochs=6, verbose=2)
            net.save_weights(os.path.join(tmp, f"{net.name}.weights.h5"))
            teachers.append(net)
            print(net.name, "done after", round(time.time() - t0, 1), "s")
    soft = tf.sigmoid(np.mean([t.predict(x, batch_size=2048, verbose=0) for t in teachers], axis=0))
    student = Student(x.shape[1])
    ds = pipeline(x, soft, 1024).repeat(5)
    for step, (xb, sb) in enumerate(ds):
        loss = student.distil(xb, sb, tf.constant(0.05))
        if step % 20 == 0:
            print(f"student {step:3d} loss {float(loss):.4f}")
    print("train wall", round(time.time() - t0, 2))


if __name__ == "__main__":
    main()
