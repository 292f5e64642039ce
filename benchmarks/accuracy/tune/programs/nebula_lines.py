# VAE for emission line spectra, with KL annealing
import time
import numpy as np
import tensorflow as tf

PIX, LAT, BATCH = 1500, 16, 1024
gen = np.random.default_rng(19)
wave = np.linspace(3600, 7200, PIX).astype(np.float32)
LINES = np.array([3727, 4101, 4340, 4861, 4959, 5007, 6563, 6717], np.float32)


def spectra(n):
    out = (gen.normal(1.0, 0.2, (n, 1)) * (wave / 5000.0) ** gen.normal(-1, 0.4, (n, 1))).astype(
        np.float32
    )
    amp = gen.lognormal(0, 0.8, (n, len(LINES))).astype(np.float32)
    z = gen.normal(0, 1.5, (n, 1)).astype(np.float32)
    for j, l in enumerate(LINES):
        out += amp[:, j : j + 1] * np.exp(-0.5 * ((wave - l - z) / 8.0) ** 2)
    out += gen.normal(0, 0.05, out.shape).astype(np.float32)
    return np.log1p(np.maximum(out, 0))


def mlp(i, sizes, o):
    return tf.keras.Sequential(
        [tf.keras.Input((i,))]
        + [tf.keras.layers.Dense(s, activation="relu") for s in sizes]
        + [tf.keras.layers.Dense(o)]
    )


enc = mlp(PIX, [768, 384], 2 * LAT)
dec = mlp(LAT, [384, 768], PIX)
variables = enc.trainable_variables + dec.trainable_variables
opt = tf.keras.optimizers.Adam(1e-3)

data = spectra(6144 + 512)
print("spectra", data.shape, data.dtype)
mean = data.mean(0)
data -= mean
hold = tf.constant(data[:512])
train = tf.constant(data[512:])


@tf.function
def update(x, beta):
    with tf.GradientTape() as tape:
        mu, logv = tf.split(enc(x), 2, axis=1)
        z = mu + tf.exp(0.5 * logv) * tf.random.normal([BATCH, LAT])
        diff = dec(z) - x
        rec = tf.reduce_mean(tf.reduce_sum(tf.square(diff), 1)) * 200.0
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logv - mu**2 - tf.exp(logv), 1))
        loss = rec + beta * kl
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return rec, kl


step = 0
for epoch in range(28):
    t0 = time.time()
    rec_sum = tf.constant(0.0)
    order = tf.random.shuffle(tf.range(len(train)))
    for k in range(0, len(train), BATCH):
        x = tf.gather(train, order[k : k + BATCH])
        beta = min(1.0, step / 30.0)
        rec, kl = update(x, tf.constant(beta))
        rec_sum += rec
        step += 1
    mu, _ = tf.split(enc(hold), 2, axis=1)
    err = tf.sqrt(tf.reduce_mean(tf.square(dec(mu) - hold)))
    print(
        "epoch %d  rec %.1f  kl %.2f  beta %.2f  holdout rms %.4f  %.2fs"
        % (
            epoch,
            float(rec_sum) / (step / (epoch + 1)),
            float(kl),
            beta,
            float(err),
            time.time() - t0,
        ),
        flush=True,
    )
