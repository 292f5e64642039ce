"""Training, then fine-tuning of the same model, each by a `fit`, from slow data."""

import time

import tensorflow as tf

# tbslow: import tbslow

tf.keras.utils.set_random_seed(9)


def rows():
    for number in range(60):
        time.sleep(0.02)
        yield tf.fill((8, 4), float(number % 7)), tf.ones((8, 1))


signature = tf.TensorSpec((8, 4), tf.float32), tf.TensorSpec((8, 1), tf.float32)
data = tf.data.Dataset.from_generator(rows, output_signature=signature)
model = tf.keras.Sequential(
    [tf.keras.Input((4,)), tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)]
)
callbacks = []
# tbslow: callbacks = [tbslow.keras.SlowdownCallback("logs")]
callbacks = []
model.compile("sgd", "mae")
model.fit(data, epochs=1, verbose=0, callbacks=callbacks)
model.layers[0].trainable = False
model.compile("sgd", "mae")
history = model.fit(data, epochs=2, verbose=0, callbacks=callbacks)
print(f"loss {history.history['loss'][-1]:.6f}")
