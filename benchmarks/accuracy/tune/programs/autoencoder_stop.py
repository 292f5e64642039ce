"""Denoising autoencoder on arrays, with the usual callbacks."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import callbacks, layers, models

noise = np.random.RandomState(1)
clean = noise.rand(20_000, 256).astype("float32")
noisy = clean + noise.normal(0, 0.1, clean.shape).astype("float32")

inputs = layers.Input(shape=(256,))
code = layers.Dense(48, activation="relu")(layers.Dense(384, activation="relu")(inputs))
outputs = layers.Dense(256, activation="sigmoid")(layers.Dense(384, activation="relu")(code))
autoencoder = models.Model(inputs, outputs)
autoencoder.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")
autoencoder.summary()

autoencoder.fit(
    noisy,
    clean,
    epochs=8,
    batch_size=64,
    shuffle=True,
    validation_split=0.1,
    verbose=2,
    callbacks=[
        callbacks.EarlyStopping(patience=4, restore_best_weights=True),
        callbacks.ReduceLROnPlateau(patience=2),
        callbacks.CSVLogger("log.csv"),
        callbacks.ModelCheckpoint("best.weights.h5", save_best_only=True, save_weights_only=True),
    ],
)
