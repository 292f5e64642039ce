"""Adding numbers with a hand-made recurrent net, all of it eager."""

import tensorflow as tf

tf.random.set_seed(8)
w_x = tf.Variable(tf.random.normal([2, 20], stddev=0.4))
w_h = tf.Variable(tf.random.normal([20, 20], stddev=0.2))
w_y = tf.Variable(tf.random.normal([20, 1], stddev=0.4))
optimizer = tf.keras.optimizers.Adam(1e-2)

losses = []
for step in range(700):
    bits = tf.cast(tf.random.uniform([32, 6, 2]) > 0.5, tf.float32)
    target = tf.reduce_sum(bits, [1, 2])[:, None] / 6
    with tf.GradientTape() as tape:
        h = tf.zeros([32, 20])
        for t in range(6):
            h = tf.tanh(tf.matmul(bits[:, t], w_x) + tf.matmul(h, w_h))
        loss = tf.reduce_mean(tf.square(tf.matmul(h, w_y) - target))
    grads = tape.gradient(loss, [w_x, w_h, w_y])
    optimizer.apply_gradients(zip(grads, [w_x, w_h, w_y]))
    losses.append(float(loss))
    if step % 100 == 99:
        print(step + 1, sum(losses[-100:]) / 100)
