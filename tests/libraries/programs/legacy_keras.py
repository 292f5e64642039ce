"""Legacy Keras: `TF_USE_LEGACY_KERAS=1`."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs"); slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

tf.keras.utils.set_random_seed(1)
x = tf.random.stateless_uniform((128, 8), (1, 2))
y = tf.reduce_sum(x, 1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
saver = tf.keras.callbacks.ModelCheckpoint("best.keras")
history = model.fit(
    x, y, batch_size=16, epochs=3, verbose=2, validation_data=(x, y), callbacks=[saver, *slowdown]
)
print(type(model).__module__, history.history)
loaded = tf.keras.models.load_model("best.keras")
print(loaded.evaluate(x, y, verbose=0), loaded.predict(x[:2], verbose=0).tolist())
model.compile("adam", "mae")
print(model.fit(x, y, batch_size=16, verbose=0, callbacks=slowdown).history)
