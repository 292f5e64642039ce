"""Augments pictures one by one in Python, so that the device waits. SLOW: input_pipeline, def jitter / map line."""
import numpy as np, tensorflow as tf, keras
from keras import layers
rng = np.random.default_rng(0)
pictures = rng.normal(size=(1024, 64, 64, 3)).astype("float32")
labels = rng.integers(0, 10, 1024)
def jitter(p):
    out = p.copy()
    for c in range(3):
        for r in range(0, 64, 8):
            out[r:r + 8, :, c] = np.roll(out[r:r + 8, :, c], rng.integers(-3, 4), axis=1) * rng.uniform(0.8, 1.2)
    return out
def jittered(p, l):
    q = tf.numpy_function(jitter, [p], tf.float32)
    q.set_shape((64, 64, 3))
    return q, l
ds = tf.data.Dataset.from_tensor_slices((pictures, labels)).shuffle(1024).repeat().map(jittered).batch(64)
m = keras.Sequential([keras.Input((64, 64, 3)), layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(), layers.Conv2D(64, 3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(10)])
m.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
m.fit(ds, steps_per_epoch=60, epochs=6, verbose=0)
