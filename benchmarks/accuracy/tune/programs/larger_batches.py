"""Don't decay the learning rate, increase the batch size: 64, 128, 256."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(17)
X = rng.normal(size=(20_000, 90)).astype("float32")
Y = (X[:, :3].sum(1) > 0).astype("int32")

net = tf.keras.Sequential(
    [
        tf.keras.Input((90,)),
        tf.keras.layers.Dense(400, "relu"),
        tf.keras.layers.Dense(400, "relu"),
        tf.keras.layers.Dense(2),
    ]
)
net.compile(
    tf.keras.optimizers.SGD(0.05, momentum=0.9),
    tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
for size in (64, 128, 256):
    print("batch size", size)
    net.fit(X, Y, batch_size=size, epochs=4, verbose=2)
