# %% [markdown]
# # Basket weaves
# Telling eight weave patterns (twill, randing, waling, ...) from small grey
# photographs. Exported from the notebook of the craft museum's summer project.

# %%
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(5)
keras.mixed_precision.set_global_policy("mixed_float16")

# %%
SIZE = 32
CLASSES = 8
N = 2000


def weave(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    pitch = rng.uniform(3.5, 5.5)
    phase = rng.uniform(0, 2 * np.pi, 2)
    u = 2 * np.pi * xx / pitch + phase[0]
    v = 2 * np.pi * yy / pitch + phase[1]
    patterns = (
        np.sin(u) * np.sin(v),
        np.sin(u + v),
        np.sin(u + 2 * v) * np.cos(v),
        np.sign(np.sin(u)) * np.sin(2 * v),
        np.sin(u) + np.sin(v),
        np.sin(2 * u - v) * np.sin(u),
        np.maximum(np.sin(u), np.sin(v)),
        np.sin(u * 0.5) * np.sign(np.sin(v * 0.5)),
    )
    img = patterns[kind] + rng.normal(0, 0.5, (SIZE, SIZE))
    return img.astype("float32")


rng = np.random.default_rng(5)
labels = rng.integers(0, CLASSES, N)
photos = np.stack([weave(k, rng) for k in labels])[..., None]
x_train, y_train = photos[: N - 400], labels[: N - 400]
x_val, y_val = photos[N - 400 :], labels[N - 400 :]
print(x_train.shape, x_val.shape)


# %%
def residual(x, width, stride=1):
    skip = x
    y = layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False)(x)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(width, 3, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    if stride > 1 or skip.shape[-1] != width:
        skip = layers.Conv2D(width, 1, strides=stride, use_bias=False)(skip)
    return layers.ReLU()(layers.add([y, skip]))


inputs = keras.Input((SIZE, SIZE, 1))
x = layers.Conv2D(16, 3, padding="same")(inputs)
x = residual(x, 16)
x = residual(x, 32, 2)
x = residual(x, 48, 2)
x = layers.GlobalAveragePooling2D()(x)
x = layers.Dense(CLASSES)(x)
outputs = layers.Activation("softmax", dtype="float32")(x)
model = keras.Model(inputs, outputs)

# %%
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
history = model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=3,
    validation_data=(x_val, y_val),
    verbose=2,
)

# %%
probs = model.predict(x_val, batch_size=200, verbose=0)
confusion = tf.math.confusion_matrix(y_val, probs.argmax(-1), CLASSES).numpy()
print(confusion)
