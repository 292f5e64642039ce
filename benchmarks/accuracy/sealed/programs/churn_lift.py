#!/usr/bin/env python
# coding: utf-8

# # Who leaves? Uplift for a telecom
# Two-headed net: chance of churn with and without the offer.

# In[1]:


import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

np.random.seed(42)
keras.utils.set_random_seed(42)


# In[2]:


N, F = 30000, 60
X = np.random.randn(N, F).astype("float32")
treated = np.random.rand(N) < 0.5
base = X[:, :5].sum(1) * 0.4 + np.sin(2 * X[:, 5])
lift = np.where(X[:, 6] > 0, -0.8, 0.3)
p = 1 / (1 + np.exp(-(base + treated * lift)))
y = (np.random.rand(N) < p).astype("float32")
print("churn rate", y.mean())


# In[3]:


class SpectralWatch(keras.callbacks.Callback):
    """Largest singular value of every kernel; I want to see whether it explodes."""

    def __init__(self, every=8):
        super().__init__()
        self.every, self.track = every, {}

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every:
            return
        for layer in self.model.layers:
            if isinstance(layer, layers.Dense):
                kernel = layer.kernel.numpy()
                top = np.linalg.svd(kernel, compute_uv=False)[0]
                self.track.setdefault(layer.name, []).append(top)

    def on_epoch_end(self, epoch, logs=None):
        worst = max(self.track, key=lambda name: self.track[name][-1])
        print(f"   largest: {worst} {self.track[worst][-1]:.2f}")


# In[4]:


feats = keras.Input((F,), name="feats")
t = keras.Input((1,), name="treated")
h = layers.Dense(384, activation="relu")(feats)
h = layers.Dropout(0.2)(h)
h = layers.Dense(256, activation="relu")(h)
h = layers.Dense(256, activation="relu")(h)
control = layers.Dense(1, name="control")(h)
offer = layers.Dense(1, name="offer")(h)
logit = layers.Lambda(lambda z: z[0] * (1 - z[2]) + z[1] * z[2])([control, offer, t])
model = keras.Model([feats, t], logit)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, num_thresholds=100)],
)


# In[5]:


watch = SpectralWatch()
history = model.fit(
    [X, treated.astype("float32")[:, None]],
    y[:, None],
    batch_size=512,
    epochs=14,
    callbacks=[watch],
    verbose=2,
)


# In[6]:


heads = keras.Model(feats, [control, offer])
c, o = heads.predict(X[:4096], batch_size=1024, verbose=0)
uplift = (1 / (1 + np.exp(-o)) - 1 / (1 + np.exp(-c)))[:, 0]
print(
    "mean uplift where it helps",
    uplift[X[:4096, 6] > 0].mean(),
    "and where it does not",
    uplift[X[:4096, 6] <= 0].mean(),
)
