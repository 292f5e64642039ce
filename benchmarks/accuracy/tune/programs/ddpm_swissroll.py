"""DDPM on a lifted swiss roll -- sanity check for the noise schedules in section 4."""

import math
import numpy as np
import tensorflow as tf

T = 200  # diffusion steps
DIM = 32  # data are 2-d, lifted by a random rotation
WIDTH = 768
BLOCKS = 4
BATCH = 192
TOTAL = 400
EMA_START = 130  # let the weights settle first
EMA_DECAY = 0.995


def swissroll(n, rs):
    t = 1.5 * np.pi * (1 + 2 * rs.rand(n))
    xy = np.stack([t * np.cos(t), t * np.sin(t)], 1) / 10.0
    return (xy + 0.02 * rs.randn(n, 2)).astype("float32")


def cosine_betas(T, s=0.008):
    u = np.linspace(0, T, T + 1) / T
    f = np.cos((u + s) / (1 + s) * math.pi / 2) ** 2
    return np.clip(1 - f[1:] / f[:-1], 0, 0.999).astype("float32")


rs = np.random.RandomState(0)
lift = np.linalg.qr(rs.randn(DIM, DIM))[0][:2].astype("float32")
data = swissroll(20000, rs) @ lift

betas = cosine_betas(T)
alphas_bar = tf.constant(np.cumprod(1 - betas), tf.float32)


def time_embedding(t, dim=64):
    half = dim // 2
    freqs = tf.exp(-math.log(10000.0) * tf.range(half, dtype=tf.float32) / half)
    arg = tf.cast(t, tf.float32)[:, None] * freqs[None]
    return tf.concat([tf.sin(arg), tf.cos(arg)], -1)


def make_net():
    x_in = tf.keras.Input((DIM,))
    t_in = tf.keras.Input((64,))
    h = tf.keras.layers.Dense(WIDTH)(x_in)
    temb = tf.keras.layers.Dense(WIDTH, activation="silu")(t_in)
    for _ in range(BLOCKS):
        r = tf.keras.layers.LayerNormalization()(h)
        r = tf.keras.layers.Add()([r, tf.keras.layers.Dense(WIDTH)(temb)])
        r = tf.keras.layers.Dense(WIDTH, activation="silu")(r)
        r = tf.keras.layers.Dense(WIDTH)(r)
        h = tf.keras.layers.Add()([h, r])
    out = tf.keras.layers.Dense(DIM, kernel_initializer="zeros")(h)
    return tf.keras.Model([x_in, t_in], out)


net = make_net()
ema_net = make_net()
ema_net.set_weights(net.get_weights())
opt = tf.keras.optimizers.Adam(3e-4)
print("parameters: %.2fM" % (net.count_params() / 1e6))


@tf.function
def train_step(x0):
    t = tf.random.uniform([BATCH], 0, T, tf.int32)
    eps = tf.random.normal([BATCH, DIM])
    ab = tf.gather(alphas_bar, t)[:, None]
    xt = tf.sqrt(ab) * x0 + tf.sqrt(1 - ab) * eps
    with tf.GradientTape() as tape:
        pred = net([xt, time_embedding(t)], training=True)
        loss = tf.reduce_mean(tf.square(eps - pred))
    grads = tape.gradient(loss, net.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


def update_ema(decay):
    new = [decay * e + (1 - decay) * w for e, w in zip(ema_net.get_weights(), net.get_weights())]
    ema_net.set_weights(new)


@tf.function
def sample(n):
    x = tf.random.normal([n, DIM])
    b = tf.constant(betas)
    for t in tf.range(T - 1, -1, -1):
        tt = tf.fill([n], t)
        eps = ema_net([x, time_embedding(tt)], training=False)
        beta, ab = b[t], alphas_bar[t]
        x = (x - beta / tf.sqrt(1 - ab) * eps) / tf.sqrt(1 - beta)
        if t > 0:
            x += tf.sqrt(beta) * tf.random.normal([n, DIM])
    return x


running = None
for it in range(TOTAL):
    x0 = data[rs.randint(0, len(data), BATCH)]
    loss = train_step(x0)
    if it < EMA_START:
        if it == EMA_START - 1:
            ema_net.set_weights(net.get_weights())
    else:
        update_ema(EMA_DECAY)
    running = float(loss) if running is None else 0.98 * running + 0.02 * float(loss)
    if it % 50 == 0:
        print(f"[{it:5d}] loss={running:.4f}")

pts = sample(256).numpy() @ lift.T
radius = np.linalg.norm(pts, axis=1)
print("sample radius  mean %.3f  std %.3f" % (radius.mean(), radius.std()))
