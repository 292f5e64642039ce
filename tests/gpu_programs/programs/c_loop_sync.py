"""The same kind of loop, the loss is read in each step for a moving mean. HEALTHY: the device computes meanwhile."""
import numpy as np, tensorflow as tf, keras
from keras import layers
model = keras.Sequential([keras.Input((2048,))] + [layers.Dense(4096, activation="relu") for _ in range(6)] + [layers.Dense(1)])
opt = keras.optimizers.Adam(1e-4)
@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
x = tf.random.normal([8192, 2048]); y = tf.reduce_mean(x, 1, keepdims=True)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8192).repeat().batch(1024).prefetch(2)
mean = 0.0
for step, (a, b) in enumerate(ds.take(900)):
    mean = 0.95 * mean + 0.05 * float(learn(a, b))
print(mean)
