"""Federated learning with a proximal term: hospitals of very different size, one network."""

import numpy as np
import tensorflow as tf

SIZES = [240, 3200, 800, 1600, 400, 2400]
rng = np.random.default_rng(90)
w_true = rng.normal(size=(30, 2))


class Hospital:
    def __init__(self, number, size):
        self.number = number
        x = rng.normal(0.2 * number, 1, (size, 30)).astype("float32")
        y = (x @ w_true + rng.gumbel(size=(size, 2))).argmax(1)
        self.data = (
            tf.data.Dataset.from_tensor_slices((x, y)).shuffle(size).batch(20, True).prefetch(2)
        )
        self.size = size


net = tf.keras.Sequential(
    [
        tf.keras.Input((30,)),
        tf.keras.layers.Dense(80, activation="relu"),
        tf.keras.layers.Dense(80, activation="relu"),
        tf.keras.layers.Dense(2),
    ]
)
center = [tf.Variable(w, trainable=False) for w in net.get_weights()]
sgd = tf.keras.optimizers.SGD(0.02)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def local_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, net(x, training=True))
        for w, c in zip(net.trainable_variables, center):
            loss += 0.005 * tf.reduce_sum((w - c) ** 2)
    sgd.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


hospitals = [Hospital(k, size) for k, size in enumerate(SIZES)]
for rnd in range(10):
    updates, sizes = [], []
    for hospital in hospitals:
        net.set_weights([c.numpy() for c in center])
        for x, y in hospital.data:
            loss = local_step(x, y)
        updates.append(net.get_weights())
        sizes.append(hospital.size)
        print(f"round {rnd} hospital {hospital.number} ({hospital.size}): {float(loss):.3f}")
    share = np.array(sizes) / sum(sizes)
    for c, *several in zip(center, *updates):
        c.assign(sum(s * w for s, w in zip(share, several)))
