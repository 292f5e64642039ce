# VAE over little puppet-theatre masks, KL weight warmed up after a reconstruction-only phase.
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE = 32
LATENT = 12
BATCH = 32
STEPS = 330
KL_START = 120
KL_RAMP = 150


def draw_masks(n, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE - 0.5
    out = np.zeros((n, SIZE, SIZE, 1), np.float32)
    for i in range(n):
        a, b = rng.uniform(0.25, 0.45, 2)
        face = (xx / a) ** 2 + (yy / b) ** 2 < 1
        ex, ey = rng.uniform(0.08, 0.18), rng.uniform(-0.15, 0.0)
        eyes = ((np.abs(xx) - ex) ** 2 + (yy - ey) ** 2) < rng.uniform(0.001, 0.006)
        mouth = (np.abs(yy - 0.2) < rng.uniform(0.01, 0.05)) & (np.abs(xx) < rng.uniform(0.05, 0.2))
        out[i, ..., 0] = face * 0.7 + eyes * 0.3 - mouth * 0.6
    return np.clip(out, 0, 1)


def make_encoder():
    inp = keras.Input((SIZE, SIZE, 1))
    x = inp
    for f in (32, 48, 64):
        x = layers.Conv2D(f, 3, strides=2, padding="same")(x)
        x = layers.LayerNormalization()(x)
        x = layers.Activation("gelu")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(128, activation="gelu")(x)
    return keras.Model(inp, [layers.Dense(LATENT)(x), layers.Dense(LATENT)(x)])


def make_decoder():
    inp = keras.Input((LATENT,))
    x = layers.Dense(4 * 4 * 64, activation="gelu")(inp)
    x = layers.Reshape((4, 4, 64))(x)
    for f in (64, 48, 32):
        x = layers.Conv2DTranspose(f, 3, strides=2, padding="same")(x)
        x = layers.LayerNormalization()(x)
        x = layers.Activation("gelu")(x)
    return keras.Model(inp, layers.Conv2D(1, 3, padding="same")(x))


encoder, decoder = make_encoder(), make_decoder()
optimizer = keras.optimizers.Adam(1e-3)
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer.build(weights)


@tf.function
def train_step(x, beta):
    with tf.GradientTape() as tape:
        mu, logvar = encoder(x, training=True)
        z = mu + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mu))
        logits = decoder(z, training=True)
        rec = tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=[1, 2, 3]
        )
        kl = -0.5 * tf.reduce_sum(1 + logvar - mu**2 - tf.exp(logvar), axis=1)
        loss = tf.reduce_mean(rec + beta * kl)
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    return tf.reduce_mean(rec), tf.reduce_mean(kl)


def kl_weight(step):
    if step < KL_START:
        return 0.0
    frac = min(1.0, (step - KL_START) / KL_RAMP)
    return round(0.15 * frac, 2)


def main():
    keras.utils.set_random_seed(12)
    rng = np.random.default_rng(12)
    masks = draw_masks(3000, rng)
    ds = tf.data.Dataset.from_tensor_slices(masks).shuffle(3000).repeat().batch(BATCH).prefetch(2)
    for step, x in enumerate(ds.take(STEPS)):
        beta = kl_weight(step)
        rec, kl = train_step(x, beta)
        if step % 60 == 0:
            print(f"{step:4d} rec {float(rec):8.2f} kl {float(kl):7.2f} beta {beta:.2f}")


if __name__ == "__main__":
    main()
