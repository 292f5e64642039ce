"""Self-supervised (SimCLR style) pre-training on accelerometer windows with a ridge probe."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

WINDOW, CHANNELS, ACTIVITIES = 128, 3, 6
BATCH = 192
EPOCHS = 8

keras.utils.set_random_seed(41)


def make_windows(n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, ACTIVITIES, n)
    t = np.arange(WINDOW) / 50.0
    cadence = 0.8 + 0.45 * label + rng.normal(0, 0.08, n)
    phase = rng.uniform(0, 2 * np.pi, (n, CHANNELS, 1))
    gains = 0.4 + 0.25 * np.cos(label[:, None] * np.array([1.0, 2.0, 3.0]))
    wave = np.sin(2 * np.pi * cadence[:, None, None] * t + phase)
    wave += 0.4 * np.sin(4 * np.pi * cadence[:, None, None] * t + 2 * phase)
    gravity = rng.normal(0, 0.6, (n, CHANNELS, 1))
    x = gains[..., None] * wave + gravity + rng.normal(0, 0.25, (n, CHANNELS, WINDOW))
    return x.transpose(0, 2, 1).astype("float32"), label


def random_view(x):
    """Channel gains, jitter, a zeroed span and time reversal, drawn for every window."""
    n = tf.shape(x)[0]
    x = x * tf.random.normal([n, 1, CHANNELS], 1.0, 0.15)
    x = x + tf.random.normal(tf.shape(x), stddev=0.08)
    start = tf.random.uniform([n, 1], 0, WINDOW - 32, tf.int32)
    position = tf.range(WINDOW)[tf.newaxis]
    hidden = (position >= start) & (position < start + 32)
    x = tf.where(hidden[..., tf.newaxis], 0.0, x)
    flip = tf.random.uniform([n, 1, 1]) < 0.3
    return tf.where(flip, tf.reverse(x, axis=[1]), x)


def build_encoder():
    inputs = keras.Input((WINDOW, CHANNELS))
    x = inputs
    for width, kernel, stride in ((48, 9, 2), (96, 5, 2), (96, 5, 1), (128, 3, 2)):
        x = layers.Conv1D(width, kernel, strides=stride, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
    return keras.Model(inputs, layers.GlobalAveragePooling1D()(x), name="encoder")


class SimCLR(keras.Model):
    def __init__(self, temperature=0.2, **kwargs):
        super().__init__(**kwargs)
        self.encoder = build_encoder()
        self.projector = keras.Sequential(
            [layers.Dense(128, activation="relu"), layers.Dense(64)], name="projector"
        )
        self.temperature = temperature
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.match_tracker = keras.metrics.Mean(name="top1_match")

    @property
    def metrics(self):
        return [self.loss_tracker, self.match_tracker]

    def call(self, x, training=False):
        return self.projector(self.encoder(x, training=training))

    def train_step(self, x):
        n = tf.shape(x)[0]
        views = tf.concat([random_view(x), random_view(x)], axis=0)
        with tf.GradientTape() as tape:
            z = tf.math.l2_normalize(self(views, training=True), axis=1)
            logits = tf.matmul(z, z, transpose_b=True) / self.temperature
            logits = tf.linalg.set_diag(logits, tf.fill([2 * n], -1e9))
            partner = tf.concat([tf.range(n, 2 * n), tf.range(n)], axis=0)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=partner, logits=logits)
            )
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        hit = tf.equal(tf.argmax(logits, axis=1, output_type=tf.int32), partner)
        self.match_tracker.update_state(tf.cast(hit, tf.float32))
        return {m.name: m.result() for m in self.metrics}


class RidgeProbe(keras.callbacks.Callback):
    def __init__(self, train, test, every=4, ridge=1.0):
        super().__init__()
        self.train, self.test = train, test
        self.every, self.ridge = every, ridge

    def features(self, x):
        f = self.model.encoder.predict(x, batch_size=500, verbose=0)
        return np.concatenate([f, np.ones((len(f), 1), f.dtype)], axis=1)

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every:
            return
        f = self.features(self.train[0])
        target = np.eye(ACTIVITIES)[self.train[1]]
        gram = f.T @ f + self.ridge * np.eye(f.shape[1])
        weights = np.linalg.solve(gram, f.T @ target)
        pred = np.argmax(self.features(self.test[0]) @ weights, axis=1)
        print(f"  probe accuracy after epoch {epoch + 1}: {np.mean(pred == self.test[1]):.4f}")


def main():
    unlabeled, _ = make_windows(11520, 41)
    probe_train, probe_test = make_windows(1500, 42), make_windows(1500, 43)
    steps = len(unlabeled) // BATCH
    model = SimCLR()
    model.compile(
        optimizer=keras.optimizers.AdamW(
            keras.optimizers.schedules.CosineDecay(
                2e-4, (EPOCHS - 1) * steps, warmup_target=2e-3, warmup_steps=steps
            ),
            weight_decay=1e-4,
        )
    )
    dataset = (
        tf.data.Dataset.from_tensor_slices(unlabeled)
        .shuffle(len(unlabeled))
        .batch(BATCH, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    model.fit(dataset, epochs=EPOCHS, verbose=2, callbacks=[RidgeProbe(probe_train, probe_test)])


if __name__ == "__main__":
    main()
