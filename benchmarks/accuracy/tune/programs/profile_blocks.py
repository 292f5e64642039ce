"""Image codes; a profile of every fortieth batch was switched on once and stayed on."""

import tensorflow as tf

net = tf.keras.Sequential(
    [
        tf.keras.Input((28, 28, 1)),
        tf.keras.layers.Conv2D(16, 3, 2, activation="relu"),
        tf.keras.layers.Conv2D(32, 3, 2, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(32),
    ]
)
opt = tf.keras.optimizers.AdamW(1e-3)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        code = net(x, training=True)
        loss = tf.reduce_mean(tf.abs(tf.matmul(code, code, transpose_b=True) - tf.eye(64)))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


x = tf.random.uniform([64, 28, 28, 1])
for i in range(800):
    profiled = i % 40 == 10
    if profiled:
        tf.profiler.experimental.start("prof")
    loss = step(x)
    if profiled:
        tf.profiler.experimental.stop()
    if i % 100 == 0:
        print(i, float(loss))
