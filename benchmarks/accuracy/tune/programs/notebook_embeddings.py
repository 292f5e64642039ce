#!/usr/bin/env python
# coding: utf-8

# # Machine sounds: unsupervised embedding first, few labels afterwards

# In[1]:


import numpy as np
import tensorflow as tf
from tensorflow import keras

print(tf.__version__)


# In[2]:


np.random.seed(0)
machines = np.random.randint(0, 8, 5000)
base = np.random.randn(8, 256)
X = (base[machines] + 0.9 * np.random.randn(5000, 256)).astype("float32")
X.shape, machines.shape


# ## Autoencoder

# In[3]:


encoder = keras.Sequential(
    [keras.Input((256,)), keras.layers.Dense(512, "relu"), keras.layers.Dense(16)]
)
decoder = keras.Sequential(
    [keras.Input((16,)), keras.layers.Dense(512, "relu"), keras.layers.Dense(256)]
)
autoencoder = keras.Sequential([encoder, decoder])
autoencoder.compile(optimizer="adam", loss="mse")
h = autoencoder.fit(X, X, epochs=8, batch_size=64, validation_split=0.1, verbose=2)


# In[4]:


codes = encoder.predict(X, batch_size=500, verbose=0)
print(codes.mean(0).round(2), codes.std(0).round(2))


# ## Classifier on the codes, with 1000 labels

# In[5]:


head = keras.Sequential([keras.Input((16,)), keras.layers.Dense(8, activation="softmax")])
head.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
head.fit(codes[:1000], machines[:1000], epochs=10, batch_size=20, verbose=0)
print(head.evaluate(codes[1000:], machines[1000:], verbose=0))


# ## Both together, with a small rate

# In[6]:


whole = keras.Sequential([encoder, head])
whole.compile(keras.optimizers.Adam(1e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
whole.fit(X[:1000], machines[:1000], epochs=10, batch_size=20, verbose=0)
print(whole.evaluate(X[1000:], machines[1000:], verbose=0))
