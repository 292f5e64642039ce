"""A fit of which TensorFlow's profiler captures steps 60 to 70. HEALTHY but for the capture."""
import sys, numpy as np, tensorflow as tf, keras
from keras import layers
x = np.random.default_rng(0).normal(size=(2048, 32, 32, 3)).astype("float32"); y = np.zeros(2048, "int32")
m = keras.Sequential([keras.Input((32, 32, 3)), layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10)])
m.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
class Capture(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if batch == 60: tf.profiler.experimental.start("logs")
    def on_train_batch_end(self, batch, logs=None):
        if batch == 70: tf.profiler.experimental.stop()
m.fit(x, y, batch_size=16, epochs=1, verbose=0, callbacks=[Capture()])
m.fit(x, y, batch_size=16, epochs=3, verbose=0)
