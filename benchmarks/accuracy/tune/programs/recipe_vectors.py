"""Recipe recommender: user and recipe vectors, sampled softmax within the batch."""

import logging
from pathlib import Path

import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("recipes")

USERS, RECIPES, DIM = 60_000, 30_000, 48
BATCH, ROUNDS, STEPS_PER_ROUND = 256, 140, 12


class TwoTowers(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.users = tf.keras.layers.Embedding(USERS, DIM)
        self.recipes = tf.keras.layers.Embedding(RECIPES, DIM)
        self.mix = tf.keras.layers.Dense(DIM)

    def call(self, inputs):
        user, recipe = inputs
        return tf.matmul(self.mix(self.users(user)), self.recipes(recipe), transpose_b=True)


def cooked():
    rng = np.random.default_rng(2)
    taste = rng.integers(0, 50, USERS)
    while True:
        user = rng.integers(0, USERS, BATCH)
        recipe = (taste[user] * 600 + rng.integers(0, 600, BATCH)) % RECIPES
        yield user.astype("int32"), recipe.astype("int32")


signature = (tf.TensorSpec((BATCH,), tf.int32), tf.TensorSpec((BATCH,), tf.int32))
visits = iter(tf.data.Dataset.from_generator(cooked, output_signature=signature).prefetch(8))
model = TwoTowers()
model((tf.zeros(2, tf.int32), tf.zeros(2, tf.int32)))
optimizer = tf.keras.optimizers.Adagrad(0.05)
labels = tf.range(BATCH)


@tf.function
def train_step(user, recipe):
    with tf.GradientTape() as tape:
        scores = model((user, recipe))
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
        )
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


folder = Path("models")
folder.mkdir(exist_ok=True)
for round_ in range(1, ROUNDS + 1):
    for _ in range(STEPS_PER_ROUND):
        loss = train_step(*next(visits))
    if round_ % 10 == 0:
        log.info("round %d loss %.4f", round_, float(loss))
    model.save(folder / "latest.keras")
