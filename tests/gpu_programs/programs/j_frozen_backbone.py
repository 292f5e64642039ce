"""Trains a head; gradients of the whole network are computed, too. SLOW from the first step on: backward_pass, tape.gradient line."""
import tensorflow as tf, keras
from keras import layers
body = keras.Sequential([keras.Input((64, 64, 3))] + [layers.Conv2D(96, 3, padding="same", activation="relu") for _ in range(5)] + [layers.GlobalAveragePooling2D()])
head = keras.Sequential([keras.Input((96,)), layers.Dense(10)])
opt = keras.optimizers.Adam(1e-3)
@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        logits = head(body(x, training=True), training=True)
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True))
    ws = body.trainable_variables + head.trainable_variables
    grads = tape.gradient(loss, ws)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    n = len(body.trainable_variables)
    opt.apply_gradients(zip(grads[n:], head.trainable_variables))
    return loss
x = tf.random.normal([2048, 64, 64, 3]); y = tf.random.uniform([2048], 0, 10, tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(128).prefetch(2)
for i, (a, b) in enumerate(ds.take(600)):
    loss = learn(a, b)
print(float(loss))
