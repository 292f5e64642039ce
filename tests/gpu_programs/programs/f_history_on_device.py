"""All hidden states so far are kept on the device, and their mean is computed in each step. SLOW: tensor_retention."""
import time
import tensorflow as tf, keras
from keras import layers
model = keras.Sequential([keras.Input((1024,)), layers.Dense(2048, activation="relu"), layers.Dense(2048, activation="relu")])
head = layers.Dense(1); head.build((None, 2048))
opt = keras.optimizers.Adam(1e-4)
weights = model.trainable_variables + head.trainable_variables
@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        h = model(x, training=True)
        loss = tf.reduce_mean((head(h) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss, h
x = tf.random.normal([512, 1024]); y = tf.reduce_mean(x, 1, keepdims=True)
states, spent = [], 0.0
began = time.perf_counter()
for step in range(700):
    loss, h = learn(x, y)
    states.append(h)
    t = time.perf_counter()
    centre = tf.reduce_mean(tf.concat(states, 0), 0)
    drift = float(tf.norm(tf.reduce_mean(h, 0) - centre))
    spent += time.perf_counter() - t
print("history", spent, "of", time.perf_counter() - began)
