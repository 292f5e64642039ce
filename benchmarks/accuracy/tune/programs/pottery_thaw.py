# # Sherds: transfer learning, notebook flattened to a script
# In[1]:
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(40)
rng = np.random.default_rng(40)
SIDE = 40
WARES = ["terra sigillata", "black slip", "coarse"]


def sherds(n, classes, bump):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    label = rng.integers(0, classes, n)
    rings = np.sin(
        (label + 2)[:, None, None]
        * 2
        * np.pi
        * np.hypot(xx - 0.5, yy - rng.uniform(0, 1, (n, 1, 1)))
        * bump
    )
    colour = rng.uniform(0.4, 1.0, (n, 1, 1, 3))
    x = rings[..., None] * colour + rng.normal(0, 2.5, (n, SIDE, SIDE, 3))
    return x.astype("float32"), label.astype("int32")


# In[2]: the trunk, first trained on museum photographs (8 classes)
def trunk():
    inp = keras.Input((SIDE, SIDE, 3))
    x = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(inp)
    x = layers.Conv2D(32, 3, padding="same", activation="relu", name="low")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(64, 3, padding="same", activation="relu", name="mid")(x)
    x = layers.Conv2D(64, 3, padding="same", activation="relu", name="top")(x)
    return keras.Model(inp, layers.GlobalAveragePooling2D()(x), name="trunk")


body = trunk()
museum = keras.Sequential([body, layers.Dense(8, activation="softmax")])
museum.compile(
    keras.optimizers.Adam(2e-3),
    "sparse_categorical_crossentropy",
    metrics=["accuracy"],
    jit_compile=False,
)
xm, ym = sherds(4096, 8, 1.0)
museum.fit(xm, ym, batch_size=128, epochs=3, verbose=2)

# In[3]: our own dig, few labels; features once, then a head on top of them
xd, yd = sherds(4096, len(WARES), 1.4)
xt, yt = sherds(512, len(WARES), 1.4)
feats = body.predict(xd, batch_size=256, verbose=0)
feats_t = body.predict(xt, batch_size=256, verbose=0)
print("features", feats.shape, feats.std().round(3))

head = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(512, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(len(WARES), activation="softmax"),
    ]
)
head.compile(
    keras.optimizers.Adam(1e-3),
    "sparse_categorical_crossentropy",
    metrics=["accuracy"],
    jit_compile=False,
)
head.fit(
    feats,
    yd,
    batch_size=256,
    epochs=6,
    verbose=2,
    validation_data=(feats_t, yt),
    validation_batch_size=512,
)

# In[4]: thaw the two upper convolutions and train on images with small rates
body.get_layer("low").trainable = False
body.layers[1].trainable = False
full = keras.Sequential([body, head])
full.compile(
    keras.optimizers.Adam(3e-4),
    "sparse_categorical_crossentropy",
    metrics=["accuracy"],
    jit_compile=False,
)
ds = (
    tf.data.Dataset.from_tensor_slices((xd, yd))
    .shuffle(512, seed=1)
    .batch(128, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)
full.fit(ds, epochs=4, validation_data=(xt, yt), validation_batch_size=256, verbose=2)

# In[5]: all of it
body.trainable = True
full.compile(
    keras.optimizers.Adam(1e-4),
    "sparse_categorical_crossentropy",
    metrics=["accuracy"],
    jit_compile=False,
)
full.fit(ds, epochs=4, validation_data=(xt, yt), validation_batch_size=256, verbose=2)
loss, acc = full.evaluate(xt, yt, batch_size=256, verbose=0)
print(f"dig test accuracy {acc:.3f}, loss {loss:.3f}")
