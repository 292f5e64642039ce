"""Deep mutual learning: a wide and a narrow net take turns and learn from each other."""

import numpy as np
import tensorflow as tf

KINDS, BATCH, STEPS = 8, 32, 800
rng = np.random.default_rng(64)


def textiles(n):
    yy, xx = np.mgrid[0:32, 0:32]
    y = rng.integers(0, KINDS, n)
    angle = y * np.pi / KINDS + rng.normal(0, 0.08, n)
    wave = np.cos(angle)[:, None, None] * xx + np.sin(angle)[:, None, None] * yy
    x = np.sin(wave * rng.uniform(0.5, 1.2, (n, 1, 1))) + rng.normal(0, 0.6, wave.shape)
    return x[..., None].astype("float32"), y.astype("int32")


def student(filters, name):
    model = tf.keras.Sequential([tf.keras.Input((32, 32, 1))], name=name)
    for k in range(3):
        model.add(tf.keras.layers.Conv2D(filters * (k + 1), 3, padding="same", activation="relu"))
        model.add(tf.keras.layers.MaxPooling2D())
    model.add(tf.keras.layers.GlobalAveragePooling2D())
    model.add(tf.keras.layers.Dense(KINDS))
    return model


def learner(own, other, rate):
    optimizer = tf.keras.optimizers.Adam(rate)

    @tf.function
    def learn(x, y):
        opinion = tf.nn.softmax(other(x, training=False) / 2.0)
        with tf.GradientTape() as tape:
            logits = own(x, training=True)
            hard = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
            soft = tf.nn.softmax_cross_entropy_with_logits(opinion, logits / 2.0)
            loss = tf.reduce_mean(hard + soft)
        grads = tape.gradient(loss, own.trainable_variables)
        optimizer.apply_gradients(zip(grads, own.trainable_variables))
        return loss

    return learn


@tf.function
def accuracy(x, y):
    hits = [tf.argmax(m(x), 1, output_type=tf.int32) == y for m in (wide, narrow)]
    return [tf.reduce_mean(tf.cast(hit, tf.float32)) for hit in hits]


wide, narrow = student(24, "wide"), student(8, "narrow")
learn_wide, learn_narrow = learner(wide, narrow, 1e-3), learner(narrow, wide, 2e-3)
train_x, train_y = textiles(3200)
test = [tf.constant(part) for part in textiles(200)]
for step in range(STEPS):
    rows = rng.integers(0, len(train_x), BATCH)
    batch = tf.constant(train_x[rows]), tf.constant(train_y[rows])
    losses = learn_wide(*batch), learn_narrow(*batch)
    if step % 80 == 79:
        scores = accuracy(*test)
        print(step + 1, "loss", [round(float(v), 3) for v in losses], "test", np.round(scores, 3))
