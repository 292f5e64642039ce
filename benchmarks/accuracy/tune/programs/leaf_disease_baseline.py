# %% [markdown]
# # Leaf disease baseline (CNN, 5 classes)
# exported from the notebook, v7

# %%
import os, math, random, tempfile
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SEED = 42
random.seed(SEED)
np.random.seed(SEED)
tf.random.set_seed(SEED)

IMG = 40
N_TRAIN, N_VALID = 3200, 400
BS = 32
EPOCHS = 9
WORK = tempfile.mkdtemp(prefix="leaf_")


# %%
# stand-in for the competition files
def fake_leaves(n):
    y = np.random.randint(0, 5, n)
    yy, xx = np.mgrid[0:IMG, 0:IMG].astype("float32") / IMG
    X = np.zeros((n, IMG, IMG, 3), "uint8")
    for i in range(n):
        img = np.stack([0.2 + 0.1 * xx, 0.5 + 0.2 * yy, 0.15 + 0 * xx], -1)
        for _ in range(1 + 2 * y[i]):
            cx, cy = np.random.rand(2)
            spot = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 0.004)
            img[..., 0] += 0.5 * spot
            img[..., 1] -= 0.3 * spot
        img += np.random.randint(-4, 5, img.shape) / 255.0
        X[i] = np.clip(img * 255, 0, 255)
    return X, y


Xtr, ytr = fake_leaves(N_TRAIN)
Xva, yva = fake_leaves(N_VALID)
np.savez(os.path.join(WORK, "train.npz"), images=Xtr, labels=ytr)
np.savez(os.path.join(WORK, "valid.npz"), images=Xva, labels=yva)
del Xtr, ytr, Xva, yva


# %%
class LeafSequence(keras.utils.PyDataset):
    def __init__(self, path, augment=False, **kw):
        super().__init__(**kw)
        self.data = np.load(path)
        self.n = len(self.data["labels"])
        self.augment = augment
        self.order = np.arange(self.n)
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(self.n / BS)

    def __getitem__(self, k):
        idx = self.order[k * BS : (k + 1) * BS]
        x = self.data["images"][idx].astype("float32") / 255.0
        y = self.data["labels"][idx]
        if self.augment:
            flip = np.random.rand(len(idx)) < 0.5
            x[flip] = x[flip, :, ::-1]
            x *= np.random.uniform(0.85, 1.15, (len(idx), 1, 1, 3)).astype("float32")
        return x, keras.utils.to_categorical(y, 5)

    def on_epoch_end(self):
        if self.augment:
            np.random.shuffle(self.order)


train_seq = LeafSequence(os.path.join(WORK, "train.npz"), augment=True)
valid_seq = LeafSequence(os.path.join(WORK, "valid.npz"))


# %%
def conv_block(x, f):
    x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    x = layers.Activation("relu")(x)
    return layers.MaxPooling2D()(x)


inp = keras.Input((IMG, IMG, 3))
x = conv_block(inp, 16)
x = conv_block(x, 32)
x = conv_block(x, 48)
x = layers.GlobalAveragePooling2D()(x)
x = layers.Dropout(0.3)(x)
out = layers.Dense(5, activation="softmax")(x)
model = keras.Model(inp, out)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.CategoricalCrossentropy(label_smoothing=0.05),
    metrics=["accuracy"],
)

# %%
cbs = [
    keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5, verbose=1),
    keras.callbacks.ModelCheckpoint(
        os.path.join(WORK, "best.weights.h5"), save_best_only=True, save_weights_only=True
    ),
]
hist = model.fit(train_seq, validation_data=valid_seq, epochs=EPOCHS, callbacks=cbs, verbose=2)

# %%
print("best val_accuracy:", max(hist.history["val_accuracy"]))
