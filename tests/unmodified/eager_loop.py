"""Eager steps, and a checkpoint after every third."""

import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs")

tf.keras.utils.set_random_seed(7)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(256)])
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)
checkpoint = tf.train.Checkpoint(model=model)
x = tf.random.normal((16, 4))
for number in range(150):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - tf.reduce_sum(x, 1, keepdims=True)) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    pairs = list(zip(gradients, model.trainable_variables, strict=True))
    # tbslow: with tbslow.summary.step(): optimizer.apply_gradients(pairs)
    optimizer.apply_gradients(pairs)
    if number % 3 == 0:
        checkpoint.write("saved")
print(f"loss {float(loss):.6f}")
