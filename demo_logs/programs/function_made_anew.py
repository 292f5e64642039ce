"""The step is wrapped in tf.function inside the loop: a new function and graph each time."""

import sys

import tensorflow as tf

import tbslow

STEPS = 300
tf.random.set_seed(1)


def main(logdir: str) -> None:
    features = tf.random.normal([2048, 64])
    labels = tf.random.normal([2048, 1])
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(64).prefetch(2)
    model = tf.keras.Sequential([tf.keras.layers.Dense(128, "relu"), tf.keras.layers.Dense(1)])
    model.build([None, 64])
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)

    def update(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    with tbslow.start(logdir):
        for x, y in tbslow.data(dataset.take(STEPS)):
            with tbslow.summary.step():
                loss = tf.function(update)(x, y)
    print("loss", float(loss))


if __name__ == "__main__":
    main(sys.argv[1])
