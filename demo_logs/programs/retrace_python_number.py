"""A decaying learning rate passed to a tf.function as a Python number: each value, a new graph."""

import sys

import tensorflow as tf

import tbslow

STEPS = 600
tf.random.set_seed(1)


def main(logdir: str) -> None:
    features = tf.random.normal([2048, 128])
    labels = tf.random.normal([2048, 1])
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(128).prefetch(2)
    layers = [tf.keras.layers.Dense(256, "relu") for _ in range(4)]
    model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])

    @tf.function
    def train_step(x, y, learning_rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        for variable, gradient in zip(
            model.trainable_variables, tape.gradient(loss, model.trainable_variables), strict=True
        ):
            variable.assign_sub(learning_rate * gradient)
        return loss

    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(dataset.take(STEPS))):
            learning_rate = 0.05 * 0.97 ** (i // 5)
            with tbslow.summary.step():
                loss = train_step(x, y, learning_rate)
    print("loss", float(loss))


if __name__ == "__main__":
    main(sys.argv[1])
