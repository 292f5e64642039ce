"""Transfer learning: the head first, then everything with a small learning rate."""

import numpy as np
import tensorflow as tf

base = tf.keras.Sequential(
    [
        tf.keras.Input((32, 32, 3)),
        tf.keras.layers.Conv2D(24, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
    ],
    name="pretrained",
)
base.trainable = False
model = tf.keras.Sequential(
    [base, tf.keras.layers.Dropout(0.2), tf.keras.layers.Dense(5, "softmax")]
)

x = np.random.rand(1920, 32, 32, 3).astype("float32")
y = np.random.randint(0, 5, 1920)
x_val, y_val = x[:128], y[:128]

model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=6, batch_size=32, validation_data=(x_val, y_val), verbose=2)

base.trainable = True
model.compile(
    tf.keras.optimizers.Adam(1e-5), "sparse_categorical_crossentropy", metrics=["accuracy"]
)
model.fit(x, y, epochs=6, batch_size=32, validation_data=(x_val, y_val), verbose=2)
