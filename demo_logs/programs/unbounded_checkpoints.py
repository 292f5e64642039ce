"""A checkpoint after each step with max_to_keep=None: each save rewrites the list of all before."""

import sys
import tempfile

import tensorflow as tf

import tbslow

STEPS = 700
tf.random.set_seed(1)


def main(logdir: str) -> None:
    features = tf.random.normal([4096, 128])
    labels = tf.random.normal([4096, 1])
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(128).prefetch(2)
    model = tf.keras.Sequential([tf.keras.layers.Dense(128, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.001)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    with tempfile.TemporaryDirectory() as saved, tbslow.start(logdir):
        manager = tf.train.CheckpointManager(checkpoint, saved, max_to_keep=None)
        for x, y in tbslow.data(dataset.take(STEPS)):
            with tbslow.summary.step():
                loss = train_step(x, y)
            manager.save()
    print("loss", float(loss))


if __name__ == "__main__":
    main(sys.argv[1])
