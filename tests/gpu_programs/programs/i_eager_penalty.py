"""From step 400 on a penalty over all weights is computed eagerly, one after another. SLOW: python_overhead, penalty line."""
import time
import tensorflow as tf, keras
from keras import layers
model = keras.Sequential([keras.Input((512,))] + [layers.Dense(512, activation="relu") for _ in range(20)] + [layers.Dense(1)])
opt = keras.optimizers.Adam(1e-4)
@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
def penalty(ws):
    total = 0.0
    for _ in range(6):
        for w in ws:
            total += tf.reduce_sum(tf.abs(w)) / tf.cast(tf.size(w), tf.float32)
    return total
x = tf.random.normal([256, 512]); y = tf.reduce_mean(x, 1, keepdims=True)
spent = 0.0
for step in range(800):
    loss = learn(x, y)
    if step >= 400:
        t = time.perf_counter()
        p = penalty(model.trainable_variables)
        spent += time.perf_counter() - t
    if step % 10 == 0:
        float(loss)
print("penalty", spent)
