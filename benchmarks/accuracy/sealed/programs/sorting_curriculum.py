"""A pointer network learns to sort, first short lists and then longer ones."""

import numpy as np
import tensorflow as tf

WIDTH, BATCH = 64, 48
LESSONS = [(6, 130), (10, 130), (14, 130), (18, 130)]
rng = np.random.default_rng(14)
dense = tf.keras.layers.Dense


class Block(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.attend = tf.keras.layers.MultiHeadAttention(4, WIDTH // 4)
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(2)]
        self.wide, self.narrow = dense(4 * WIDTH, activation="gelu"), dense(WIDTH)

    def call(self, x):
        y = self.norms[0](x)
        x = x + self.attend(y, y)
        return x + self.narrow(self.wide(self.norms[1](x)))


class Pointer(tf.keras.Model):
    """For each place of the sorted list, which of the numbers belongs there."""

    def __init__(self):
        super().__init__()
        self.enter = dense(WIDTH)
        self.blocks = [Block() for _ in range(3)]
        self.place = tf.keras.layers.Embedding(32, WIDTH)
        self.key = dense(WIDTH)

    def call(self, numbers):
        x = self.enter(numbers[..., None])
        for block in self.blocks:
            x = block(x)
        query = self.place(tf.range(tf.shape(numbers)[1]))
        return tf.einsum("pw,bnw->bpn", query, self.key(x)) / WIDTH**0.5


model = Pointer()
model(tf.zeros([1, 4]))
schedule = tf.keras.optimizers.schedules.CosineDecay(1e-3, sum(n for _, n in LESSONS))
optimizer = tf.keras.optimizers.Adam(schedule)


@tf.function(
    input_signature=[tf.TensorSpec([None, None], tf.float32), tf.TensorSpec([None, None], tf.int32)]
)
def train(numbers, order):
    with tf.GradientTape() as tape:
        logits = model(numbers, training=True)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=order, logits=logits)
        )
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    right = tf.argmax(logits, -1, output_type=tf.int32) == order
    return loss, tf.reduce_mean(tf.cast(right, tf.float32))


for length, steps in LESSONS:
    score = []
    for _ in range(steps):
        numbers = rng.random((BATCH, length)).astype("float32")
        loss, right = train(numbers, numbers.argsort(1).astype("int32"))
        score.append(float(right))
    print(f"lists of {length}: loss {float(loss):.3f}, {np.mean(score[-20:]):.0%} in their place")
