"""Tags photos of kites by shape (multi-label) with a ResNet-ish CNN; converted from a notebook."""

import os
import random
import tempfile

import numpy as np
import tensorflow as tf

# In[1]: setup
SEED = 42
os.environ["PYTHONHASHSEED"] = str(SEED)
random.seed(SEED)
np.random.seed(SEED)
tf.random.set_seed(SEED)

TAGS = ["delta", "box", "rokkaku", "tail", "pair"]
SIZE = 56

# In[2]: data


def polygon(img, cy, cx, r, k, phase, colour):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    ang = np.arctan2(yy - cy, xx - cx) + phase
    rad = np.hypot(yy - cy, xx - cx)
    edge = r * np.cos(np.pi / k) / np.cos((ang % (2 * np.pi / k)) - np.pi / k)
    img[rad < edge] = colour


def photo(rng):
    img = np.empty((SIZE, SIZE, 3), "float32")
    img[:] = [0.5, 0.7, 0.95]
    img += rng.normal(0, 0.04, img.shape)
    label = np.zeros(len(TAGS), "float32")
    shape = rng.integers(3)
    label[shape] = 1
    count = 1 + int(rng.random() < 0.4)
    label[4] = count > 1
    tail = rng.random() < 0.5
    label[3] = tail
    for _ in range(count):
        cy, cx = rng.uniform(14, 40, 2)
        r = rng.uniform(7, 13)
        polygon(img, cy, cx, r, [3, 4, 6][shape], rng.uniform(0, 6), rng.uniform(0, 1, 3))
        if tail:
            for j in range(18):
                p = int(min(SIZE - 1, cy + r + j))
                q = int(np.clip(cx + 3 * np.sin(j / 2), 0, SIZE - 1))
                img[p, q] = [0.9, 0.1, 0.1]
    return np.clip(img, 0, 1), label


rng = np.random.default_rng(SEED)
pairs = [photo(rng) for _ in range(1300)]
x = np.stack([p[0] for p in pairs])
y = np.stack([p[1] for p in pairs])
x_train, y_train = x[:1200], y[:1200]
x_test, y_test = x[1200:], y[1200:]
print(x_train.shape, y_train.mean(axis=0))

# In[3]: model


def stage(x, filters, stride):
    skip = tf.keras.layers.Conv2D(filters, 1, strides=stride)(x)
    h = tf.keras.layers.Conv2D(filters, 3, strides=stride, padding="same")(x)
    h = tf.keras.layers.BatchNormalization()(h)
    h = tf.keras.layers.ReLU()(h)
    h = tf.keras.layers.Conv2D(filters, 3, padding="same")(h)
    h = tf.keras.layers.BatchNormalization()(h)
    return tf.keras.layers.ReLU()(h + skip)


def make_model():
    inp = tf.keras.Input((SIZE, SIZE, 3))
    h = tf.keras.layers.Conv2D(24, 3, padding="same", activation="relu")(inp)
    h = stage(h, 32, 2)
    h = stage(h, 64, 2)
    h = stage(h, 96, 2)
    h = tf.keras.layers.GlobalAveragePooling2D()(h)
    h = tf.keras.layers.Dropout(0.2)(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(len(TAGS), activation="sigmoid")(h))


class HardestPhotos:
    """Keeps the photos the model gets most wrong, to look at them in the other notebook."""

    def __init__(self, folder, per_batch=8):
        self.path = os.path.join(folder, "hardest.npz")
        self.per_batch = per_batch
        self.photos, self.labels, self.steps = [], [], []

    def update(self, step, xb, yb, losses):
        worst = np.argsort(-losses)[: self.per_batch]
        self.photos.append(xb[worst])
        self.labels.append(yb[worst])
        self.steps.append(np.full(len(worst), step))
        np.savez_compressed(
            self.path,
            photos=np.concatenate(self.photos),
            labels=np.concatenate(self.labels),
            steps=np.concatenate(self.steps),
        )


# In[4]: train
BATCH, EPOCHS, GALLERY_EVERY = 48, 6, 4
STEPS = EPOCHS * (len(x_train) // BATCH)
model = make_model()
optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(1e-3, STEPS))


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        p = model(xb, training=True)
        losses = tf.keras.losses.binary_focal_crossentropy(yb, p, gamma=1.0)
        loss = tf.reduce_mean(losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return losses


with tempfile.TemporaryDirectory() as folder:
    gallery = HardestPhotos(folder)
    step = 0
    for epoch in range(EPOCHS):
        order = np.random.permutation(len(x_train))
        total = 0.0
        for i in range(0, len(order) - BATCH + 1, BATCH):
            rows = order[i : i + BATCH]
            losses = train_step(x_train[rows], y_train[rows]).numpy()
            total += losses.mean()
            if step % GALLERY_EVERY == 0:
                gallery.update(step, x_train[rows], y_train[rows], losses)
            step += 1
        print(f"epoch {epoch + 1} loss {total / (len(order) // BATCH):.4f}", flush=True)
    print("gallery:", os.path.getsize(gallery.path) // 1024, "kB")

# In[5]: per-tag accuracy
pred = model.predict(x_test, verbose=0) > 0.5
for i, tag in enumerate(TAGS):
    print(f"{tag:8s} {np.mean(pred[:, i] == (y_test[:, i] > 0.5)):.3f}")
