"""Finds scratches on machine parts; annotations are objects, as the labelling tool has them."""

import gc

import numpy as np
import tensorflow as tf

CLASSES = ("scratch", "dent", "rust", "fine")


class Box:
    def __init__(self, part, left, top, label):
        self.part, self.left, self.top, self.label = part, left, top, label


class Part:
    """One picture with everything that people drew on it."""

    def __init__(self, number, rng):
        self.number = number
        label = CLASSES[int(rng.integers(0, len(CLASSES)))]
        self.boxes = [
            Box(self, *rng.integers(0, 24, 2).tolist(), label)
            for _ in range(int(rng.integers(2, 6)))
        ]
        self.notes = [{"by": number % 7, "text": f"{b.label} at {b.left}"} for b in self.boxes]

    def render(self, rng):
        image = rng.normal(0.5, 0.1, (32, 32, 1)).astype("float32")
        for box in self.boxes:
            image[box.top : box.top + 6, box.left : box.left + 3 + CLASSES.index(box.label)] = 0.9
        return image, CLASSES.index(self.boxes[0].label)


class Inspector(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.Sequential(
            [
                tf.keras.layers.Conv2D(16, 3, activation="relu"),
                tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
                tf.keras.layers.Conv2D(32, 3, activation="relu"),
                tf.keras.layers.GlobalMaxPooling2D(),
                tf.keras.layers.Dense(len(CLASSES)),
            ]
        )

    def call(self, images, training=False):
        return self.body(images, training=training)


def release():
    gc.collect()


rng = np.random.default_rng(8)
gallery = [Part(number, rng) for number in range(45_000)]
inspector = Inspector()
optimizer = tf.keras.optimizers.Adam(1e-3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def inspect(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, inspector(images, training=True))
    grads = tape.gradient(loss, inspector.trainable_variables)
    optimizer.apply_gradients(zip(grads, inspector.trainable_variables))
    return loss


for shift in range(10):
    total = 0.0
    for _ in range(12):
        chosen = [gallery[k] for k in rng.integers(0, len(gallery), 192)]
        images, labels = zip(*(part.render(rng) for part in chosen))
        total += float(inspect(tf.constant(np.stack(images)), tf.constant(labels)))
        release()
    print(f"shift {shift}: mean loss {total / 12:.4f}")
