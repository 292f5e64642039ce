"""Who in the seed library would like which variety next?

Two embedding tables (members, varieties), a small tower on each, cosine
similarity, in-batch softmax.  The swap records are synthetic: members and
varieties live in a 12-dimensional taste space.
"""

import numpy as np
import tensorflow as tf

SEED = 20
N_MEMBERS = 60_000
N_VARIETIES = 100_000
DIM = 64
HIDDEN = 256
BATCH = 1024
STEPS = 380
TEMPERATURE = 0.08

rng = np.random.default_rng(SEED)
tf.random.set_seed(SEED)


def make_swaps(n=400_000):
    clusters = 40
    member_cluster = rng.integers(0, clusters, N_MEMBERS)
    variety_cluster = rng.integers(0, clusters, N_VARIETIES)
    order = np.argsort(variety_cluster, kind="stable")
    starts = np.searchsorted(variety_cluster[order], np.arange(clusters + 1))
    members = rng.integers(0, N_MEMBERS, n)
    c = member_cluster[members]
    stray = rng.random(n) < 0.1
    c = np.where(stray, rng.integers(0, clusters, n), c)
    width = starts[c + 1] - starts[c]
    varieties = order[starts[c] + (rng.random(n) ** 2 * width).astype(np.int64)]
    return members.astype(np.int32), varieties.astype(np.int32)


class Tower(tf.Module):
    def __init__(self, name):
        super().__init__(name=name)
        init = tf.initializers.GlorotUniform(seed=SEED)
        self.w1 = tf.Variable(init((DIM, HIDDEN)), name="w1")
        self.b1 = tf.Variable(tf.zeros(HIDDEN), name="b1")
        self.w2 = tf.Variable(init((HIDDEN, DIM)), name="w2")

    def __call__(self, x):
        h = tf.nn.gelu(x @ self.w1 + self.b1)
        return tf.math.l2_normalize(x + h @ self.w2, axis=1)


class SwapModel(tf.Module):
    def __init__(self):
        super().__init__()
        self.members = tf.Variable(tf.random.normal((N_MEMBERS, DIM), stddev=0.1), name="members")
        self.varieties = tf.Variable(
            tf.random.normal((N_VARIETIES, DIM), stddev=0.1), name="varieties"
        )
        self.member_tower = Tower("member_tower")
        self.variety_tower = Tower("variety_tower")

    def scores(self, member_ids, variety_ids):
        member_rows = tf.math.l2_normalize(self.members, axis=1)
        variety_rows = tf.math.l2_normalize(self.varieties, axis=1)
        m = self.member_tower(tf.gather(member_rows, member_ids))
        v = self.variety_tower(tf.gather(variety_rows, variety_ids))
        return tf.matmul(m, v, transpose_b=True) / TEMPERATURE


members, varieties = make_swaps()
model = SwapModel()
optimizer = tf.keras.optimizers.SGD(learning_rate=4.0)
log_pop = tf.constant(
    np.log((np.bincount(varieties, minlength=N_VARIETIES) + 1.0) / len(varieties)), tf.float32
)


@tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.int32)])
def train_step(member_ids, variety_ids):
    with tf.GradientTape() as tape:
        logits = model.scores(member_ids, variety_ids)
        logits -= tf.gather(log_pop, variety_ids)[None, :]
        labels = tf.cast(tf.equal(variety_ids[:, None], variety_ids[None, :]), tf.float32)
        labels /= tf.reduce_sum(labels, axis=1, keepdims=True)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = (
    tf.data.Dataset.from_tensor_slices((members, varieties))
    .batch(BATCH, drop_remainder=True)
    .repeat()
    .prefetch(4)
)

running = tf.keras.metrics.Mean()
for step, (m, v) in enumerate(data.take(STEPS), start=1):
    running.update_state(train_step(m, v))
    if step % 50 == 0:
        print(f"step {step:4d}  loss {float(running.result()):.4f}")
        running.reset_state()

print("done", float(running.result()))
