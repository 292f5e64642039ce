"""The hidden states of all steps are joined into one tensor, and its mean is taken each step."""

import os

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"  # the allocator that GPUs have, of 1 GiB
os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "1024"

import sys

import tensorflow as tf

import tbslow

STEPS = 800
tf.random.set_seed(1)
tf.config.threading.set_intra_op_parallelism_threads(1)


def main(logdir: str) -> None:
    features = tf.random.normal([4096, 256])
    labels = tf.random.normal([4096, 1])
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(64).prefetch(2)
    encoder = tf.keras.Sequential([tf.keras.Input([256]), tf.keras.layers.Dense(512, "relu")])
    head = tf.keras.layers.Dense(1)
    optimizer = tf.keras.optimizers.SGD(0.001)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            hidden = encoder(x)
            loss = tf.reduce_mean((head(hidden) - y) ** 2)
        variables = encoder.trainable_variables + head.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return hidden

    history = tf.zeros([0, 512])
    with tbslow.start(logdir):
        for x, y in tbslow.data(dataset.take(STEPS)):
            with tbslow.summary.step():
                hidden = train_step(x, y)
                history = tf.concat([history, hidden], axis=0)
                center = tf.reduce_mean(history, axis=0)
    print("center", float(tf.norm(center)))


if __name__ == "__main__":
    main(sys.argv[1])
