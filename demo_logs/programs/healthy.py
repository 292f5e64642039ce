"""A run with nothing wrong: one trace, a prefetched input, a step that stays the same."""

import sys

import tensorflow as tf

import tbslow

STEPS = 2000
tf.random.set_seed(1)
tf.config.threading.set_intra_op_parallelism_threads(1)


def main(logdir: str) -> None:
    features = tf.random.normal([4096, 256])
    labels = tf.random.uniform([4096], maxval=10, dtype=tf.int32)
    dataset = (
        tf.data.Dataset.from_tensor_slices((features, labels))
        .shuffle(4096)
        .repeat()
        .batch(128, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(512, "relu"),
            tf.keras.layers.Dense(512, "relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.01)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    with tbslow.start(logdir):
        for x, y in tbslow.data(dataset.take(STEPS)):
            with tbslow.summary.step():
                loss = train_step(x, y)
    print("loss", float(loss))


if __name__ == "__main__":
    main(sys.argv[1])
