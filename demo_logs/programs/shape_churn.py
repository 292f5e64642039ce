"""From step 150 on, images come in ever new sizes: convolutions are prepared for each anew."""

import sys

import numpy as np
import tensorflow as tf

import tbslow

STEPS = 500
FIXED_UNTIL = 150
SIDE = 24
tf.random.set_seed(1)


def batches():
    random = np.random.default_rng(1)
    sides = np.arange(SIDE - 10, SIDE + 10)
    sizes = random.permutation([(height, width) for height in sides for width in sides])
    for i in range(STEPS):
        height, width = (SIDE, SIDE) if i < FIXED_UNTIL else sizes[i - FIXED_UNTIL]
        yield random.normal(size=(2, height, width, 3))


def main(logdir: str) -> None:
    model = tf.keras.Sequential(
        [
            tf.keras.Input([None, None, 3]),
            *(tf.keras.layers.Conv2D(n, 3, activation="relu") for n in range(8, 20, 2)),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.001)
    optimizer.build(model.trainable_variables)

    spec = tf.TensorSpec([2, None, None, 3])

    @tf.function(input_signature=[spec])
    def train_step(images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(images) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    dataset = tf.data.Dataset.from_generator(batches, output_signature=spec).prefetch(2)
    with tbslow.start(logdir):
        for images in tbslow.data(dataset):
            with tbslow.summary.step(items=images.shape[1] * images.shape[2]):
                loss = train_step(images)
    print("loss", float(loss))


if __name__ == "__main__":
    main(sys.argv[1])
