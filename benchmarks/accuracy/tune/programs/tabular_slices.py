"""Credit default on a table; one slice of the shuffled dataset is taken for each step."""

import numpy as np
import tensorflow as tf

FIELDS, BUCKETS, BATCH = 16, 64, 256
ROWS = 50_000


def applications():
    rng = np.random.default_rng(6)
    numbers = rng.normal(size=(ROWS, FIELDS)).astype("float32")
    risk = numbers[:, 0] * numbers[:, 3] - numbers[:, 5] + 0.5 * np.abs(numbers[:, 9])
    return numbers, (risk + rng.normal(0, 0.3, ROWS) > 0.4).astype("float32")


def prepare(numbers, label):
    clipped = tf.clip_by_value(numbers, -3.0, 3.0)
    bucket = tf.cast((clipped + 3.0) / 6.0 * (BUCKETS - 1), tf.int32)
    return (clipped, bucket + tf.range(FIELDS) * BUCKETS), label


dataset = tf.data.Dataset.from_tensor_slices(applications()).batch(BATCH).map(prepare)


class Tabular(tf.keras.Model):
    """Piecewise embeddings beside the plain numbers."""

    def __init__(self):
        super().__init__()
        self.table = tf.keras.layers.Embedding(FIELDS * BUCKETS, 16)
        self.deep = [tf.keras.layers.Dense(512, activation="relu") for _ in range(3)]
        self.out = tf.keras.layers.Dense(1)

    def call(self, inputs):
        numbers, buckets = inputs
        pieces = self.table(buckets)
        x = tf.concat([numbers, tf.reshape(pieces, [tf.shape(numbers)[0], FIELDS * 16])], 1)
        x = tf.ensure_shape(x, [None, FIELDS * 17])
        for layer in self.deep:
            x = layer(x)
        return self.out(x)[:, 0]


model = Tabular()
optimizer = tf.keras.optimizers.Adam(1e-3)
auc = tf.keras.metrics.AUC(from_logits=True)


@tf.function(reduce_retracing=True)
def update(inputs, label):
    with tf.GradientTape() as tape:
        logits = model(inputs)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(label, logits))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    auc.update_state(label, logits)
    return loss


steps_per_epoch = ROWS // BATCH
for epoch in range(3):
    auc.reset_state()
    for step in range(steps_per_epoch):
        (inputs, label) = next(iter(dataset.skip(step).take(1)))
        loss = update(inputs, label)
        if step % 50 == 0:
            print(f"epoch {epoch} step {step} loss {loss:.4f} auc {auc.result():.4f}")
