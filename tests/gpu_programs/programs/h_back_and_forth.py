"""From step 300 on the features go to NumPy and back in each step to be normalised there. SLOW: host_device_transfer or python_overhead, lines of np."""
import time
import numpy as np, tensorflow as tf, keras
from keras import layers
body = keras.Sequential([keras.Input((128, 128, 3)), layers.Conv2D(64, 3, padding="same", activation="relu")])
head = keras.Sequential([keras.Input((128, 128, 64)), layers.GlobalAveragePooling2D(), layers.Dense(10)])
opt = keras.optimizers.SGD(0.01)
@tf.function
def features(x):
    return body(x, training=False)
@tf.function
def learn(h, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, head(h, training=True), from_logits=True))
    opt.apply_gradients(zip(tape.gradient(loss, head.trainable_variables), head.trainable_variables))
    return loss
x = tf.random.normal([64, 128, 128, 3]); y = tf.zeros([64], tf.int32)
spent = 0.0
for step in range(500):
    h = features(x)
    if step >= 300:
        t = time.perf_counter()
        h = h.numpy()
        h = tf.constant((h - h.mean()) / (h.std() + 1e-6))
        spent += time.perf_counter() - t
    loss = learn(h, y)
    if step % 20 == 0:
        print(step, float(loss))
print("numpy", spent)
