# %% [markdown]
# # Cell nuclei segmentation - small U-Net baseline
# LB 0.71 with 5 folds, this is fold 0 only

# %%
import os, random, tempfile, warnings

warnings.filterwarnings("ignore")
import numpy as np
import tensorflow as tf
import keras
from keras import layers as L, backend as K

SEED = 2021


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)


seed_everything(SEED)


class CFG:
    img = 48
    n_train = 1920
    n_valid = 192
    bs = 16
    epochs = 5
    lr = 2e-3
    filters = (12, 24, 48)
    out = tempfile.mkdtemp(prefix="cells_")


# %%
def make_image(rng):
    yy, xx = np.mgrid[0 : CFG.img, 0 : CFG.img]
    img = rng.normal(0.15, 0.05, (CFG.img, CFG.img))
    mask = np.zeros((CFG.img, CFG.img), bool)
    for _ in range(rng.integers(2, 6)):
        cy, cx = rng.integers(5, CFG.img - 5, 2)
        a, b = rng.uniform(3, 8, 2)
        t = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t)
        v = -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
        blob = (u / a) ** 2 + (v / b) ** 2 < 1
        img[blob] += rng.uniform(0.2, 0.5)
        mask |= blob
    return img.astype("float32"), mask.astype("float32")


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    pairs = [make_image(rng) for _ in range(n)]
    x = np.stack([p[0] for p in pairs])[..., None]
    y = np.stack([p[1] for p in pairs])[..., None]
    return x, y


x_train, y_train = make_split(CFG.n_train, SEED)
x_valid, y_valid = make_split(CFG.n_valid, SEED + 1)
print("train", x_train.shape, "valid", x_valid.shape, "positive %.3f" % y_train.mean())

# %%
AUTO = tf.data.AUTOTUNE


def augment(img, msk):
    both = tf.concat([img, msk], -1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    img, msk = both[..., :1], both[..., 1:]
    img = img * tf.random.uniform([], 0.8, 1.2)
    return img, msk


def get_ds(x, y, train):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if train:
        ds = ds.shuffle(len(x), seed=SEED).map(augment, num_parallel_calls=AUTO)
    return ds.batch(CFG.bs).prefetch(AUTO)


train_ds = get_ds(x_train, y_train, True)
valid_ds = get_ds(x_valid, y_valid, False)


# %%
def conv_block(x, f):
    for _ in range(2):
        x = L.Conv2D(f, 3, padding="same", use_bias=False)(x)
        x = L.BatchNormalization()(x)
        x = L.Activation("relu")(x)
    return x


def build_unet():
    inp = L.Input((CFG.img, CFG.img, 1))
    skips, x = [], inp
    for f in CFG.filters[:-1]:
        x = conv_block(x, f)
        skips.append(x)
        x = L.MaxPooling2D()(x)
    x = conv_block(x, CFG.filters[-1])
    for f, s in zip(reversed(CFG.filters[:-1]), reversed(skips)):
        x = L.Conv2DTranspose(f, 2, strides=2)(x)
        x = L.Concatenate()([x, s])
        x = conv_block(x, f)
    out = L.Conv2D(1, 1, activation="sigmoid")(x)
    return keras.Model(inp, out, name="unet")


def dice_coef(y_true, y_pred, eps=1.0):
    y_pred = tf.cast(y_pred > 0.5, tf.float32)
    inter = tf.reduce_sum(y_true * y_pred, axis=(1, 2, 3))
    total = tf.reduce_sum(y_true, axis=(1, 2, 3)) + tf.reduce_sum(y_pred, axis=(1, 2, 3))
    return tf.reduce_mean((2 * inter + eps) / (total + eps))


def bce_dice(y_true, y_pred):
    bce = keras.losses.binary_crossentropy(y_true, y_pred)
    inter = tf.reduce_sum(y_true * y_pred)
    soft = 1 - (2 * inter + 1) / (tf.reduce_sum(y_true) + tf.reduce_sum(y_pred) + 1)
    return tf.reduce_mean(bce) + soft


# %%
model = build_unet()
steps = len(train_ds) * CFG.epochs
sched = keras.optimizers.schedules.CosineDecay(CFG.lr, steps, alpha=0.02)
model.compile(optimizer=keras.optimizers.Adam(sched), loss=bce_dice, metrics=[dice_coef])

callbacks = [
    keras.callbacks.ModelCheckpoint(os.path.join(CFG.out, "fold0.keras"), save_freq=10),
    keras.callbacks.CSVLogger(os.path.join(CFG.out, "fold0.csv")),
    keras.callbacks.TerminateOnNaN(),
]
hist = model.fit(
    train_ds, validation_data=valid_ds, epochs=CFG.epochs, callbacks=callbacks, verbose=2
)

# %%
pred = model.predict(x_valid, batch_size=64, verbose=0)
best, best_t = 0, 0.5
for t in np.arange(0.3, 0.75, 0.05):
    inter = ((pred > t) * y_valid).sum()
    d = 2 * inter / ((pred > t).sum() + y_valid.sum())
    if d > best:
        best, best_t = d, t
print(f"fold 0 dice {best:.4f} @ threshold {best_t:.2f}")
