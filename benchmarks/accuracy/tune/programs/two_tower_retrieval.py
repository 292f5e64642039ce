"""Two-tower retrieval for the marketplace "similar buyers" shelf.

Users and listings are embedded on the unit sphere, in-batch sampled softmax
with logQ correction on top. Interactions are drawn from a long-tailed toy log.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(5)
N_USERS, N_ITEMS, DIM = 150_000, 60_000, 64
BATCH, STEPS, EPOCHS = 1024, 130, 5
TEMPERATURE = 0.07


def make_log(n, seed):
    r = np.random.default_rng(seed)
    users = (N_USERS * r.beta(0.8, 2.0, n)).astype(np.int32)
    pop = np.minimum((r.pareto(1.1, n) * 40).astype(np.int64), N_ITEMS - 1)
    items = ((pop + users // 211) % N_ITEMS).astype(np.int32)  # taste clusters
    hour = r.integers(0, 24, n).astype(np.int32)
    price = r.lognormal(3.0, 0.7, n).astype(np.float32)
    return {"user": users, "item": items, "hour": hour, "price": np.log1p(price)}


class SphereTable(keras.layers.Layer):
    """id -> unit vector"""

    def __init__(self, rows, dim, **kw):
        super().__init__(**kw)
        self.rows, self.dim = rows, dim

    def build(self, _):
        self.table = self.add_weight(
            name="table",
            shape=(self.rows, self.dim),
            initializer=keras.initializers.RandomNormal(stddev=0.1),
        )
        self.built = True

    def call(self, ids):
        unit = tf.math.l2_normalize(self.table.value, axis=1)
        return tf.nn.embedding_lookup(unit, ids)


def tower(name):
    return keras.Sequential(
        [
            keras.layers.Dense(384, activation="gelu"),
            keras.layers.LayerNormalization(),
            keras.layers.Dense(384, activation="gelu"),
            keras.layers.Dense(DIM),
        ],
        name=name,
    )


class TwoTower(keras.Model):
    def __init__(self, item_logq):
        super().__init__()
        self.user_emb = SphereTable(N_USERS, DIM, name="user_emb")
        self.item_emb = SphereTable(N_ITEMS, DIM, name="item_emb")
        self.hour_emb = keras.layers.Embedding(24, 8)
        self.user_tower, self.item_tower = tower("user_tower"), tower("item_tower")
        self.item_logq = tf.constant(item_logq)
        self.loss_avg = keras.metrics.Mean(name="loss")
        self.hit = keras.metrics.SparseTopKCategoricalAccuracy(10, name="hit10")

    def call(self, b, training=False):
        u = tf.concat([self.user_emb(b["user"]), self.hour_emb(b["hour"])], -1)
        i = tf.concat([self.item_emb(b["item"]), b["price"][:, None]], -1)
        u = tf.math.l2_normalize(self.user_tower(u, training=training), -1)
        i = tf.math.l2_normalize(self.item_tower(i, training=training), -1)
        return tf.matmul(u, i, transpose_b=True) / TEMPERATURE

    def _loss(self, logits, b):
        logits = logits - tf.gather(self.item_logq, b["item"])[None, :]
        y = tf.range(tf.shape(logits)[0])
        xe = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        return tf.reduce_mean(xe), y

    def train_step(self, b):
        with tf.GradientTape() as tape:
            logits = self(b, training=True)
            loss, y = self._loss(logits, b)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_avg.update_state(loss)
        self.hit.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, b):
        logits = self(b, training=False)
        loss, y = self._loss(logits, b)
        self.loss_avg.update_state(loss)
        self.hit.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [self.loss_avg, self.hit]


def main():
    train = make_log(BATCH * STEPS, 0)
    hold = make_log(BATCH * 6, 1)
    counts = np.bincount(train["item"], minlength=N_ITEMS) + 1.0
    logq = np.log(counts / counts.sum()).astype(np.float32)

    ds = tf.data.Dataset.from_tensor_slices(train).batch(BATCH, drop_remainder=True)
    ds = ds.shuffle(STEPS).prefetch(2)  # the log is already in random order
    val = tf.data.Dataset.from_tensor_slices(hold).batch(BATCH, drop_remainder=True)

    model = TwoTower(logq)
    # plain SGD like the baseline we compare against
    model.compile(optimizer=keras.optimizers.SGD(0.3))
    model.fit(ds, validation_data=val, epochs=EPOCHS, verbose=2)


if __name__ == "__main__":
    main()
