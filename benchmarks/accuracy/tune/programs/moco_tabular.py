# MoCo-style contrastive pretraining for tabular sensor rows + linear probe (eager mode for easy debugging)
import time
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)


class Config:
    n_rows = 18000
    n_feat = 96
    n_cls = 8
    batch = 256
    width = 384
    z_dim = 128
    temperature = 0.12
    momentum = 0.99
    bank = 1024
    epochs = 2
    lr = 1e-3


def load(cfg):
    rng = np.random.RandomState(1)
    proto = rng.randn(cfg.n_cls, 12)
    y = rng.randint(cfg.n_cls, size=cfg.n_rows)
    latent = proto[y] + 0.7 * rng.randn(cfg.n_rows, 12)
    mix = rng.randn(12, cfg.n_feat)
    x = np.tanh(latent @ mix / 3.0) + 0.3 * rng.randn(cfg.n_rows, cfg.n_feat)
    return x.astype("float32"), y


def corrupt(x, p=0.3):
    """SCARF corruption: swap a random subset of the features with those of other rows."""
    perm = tf.random.shuffle(tf.range(tf.shape(x)[0]))
    mask = tf.cast(tf.random.uniform(tf.shape(x)) < p, x.dtype)
    return x * (1 - mask) + tf.gather(x, perm) * mask


def encoder(cfg):
    L = tf.keras.layers
    inp = L.Input((cfg.n_feat,))
    h = L.Dense(cfg.width, activation="gelu")(inp)
    h = L.LayerNormalization()(h)
    h = L.Dense(cfg.width, activation="gelu", name="feat")(h)
    return tf.keras.Model(inp, L.Dense(cfg.z_dim)(h))


class MoCo:
    def __init__(self, cfg):
        self.cfg = cfg
        self.q_net = encoder(cfg)
        self.k_net = encoder(cfg)
        self.k_net.set_weights(self.q_net.get_weights())
        self.opt = tf.keras.optimizers.AdamW(cfg.lr)
        self.queue = tf.math.l2_normalize(tf.random.normal([cfg.bank, cfg.z_dim]), axis=1)

    def update_key_encoder(self):
        m = self.cfg.momentum
        for k, q in zip(self.k_net.weights, self.q_net.weights):
            k.assign(m * k + (1 - m) * q)

    def enqueue(self, keys):
        self.queue = tf.concat([keys, self.queue], axis=0)

    def step(self, x):
        k = tf.math.l2_normalize(self.k_net(corrupt(x), training=False), axis=1)
        with tf.GradientTape() as tape:
            q = tf.math.l2_normalize(self.q_net(corrupt(x), training=True), axis=1)
            pos = tf.reduce_sum(q * k, axis=1, keepdims=True)
            neg = tf.matmul(q, self.queue, transpose_b=True)
            logits = tf.concat([pos, neg], axis=1) / self.cfg.temperature
            target = tf.zeros([tf.shape(x)[0]], tf.int32)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
            )
        grads = tape.gradient(loss, self.q_net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.q_net.trainable_variables))
        self.update_key_encoder()
        self.enqueue(k)
        acc = tf.reduce_mean(tf.cast(pos[:, 0] > tf.reduce_max(neg, axis=1), tf.float32))
        return loss, acc


def linear_probe(model, x, y, n_cls):
    f = tf.keras.Model(model.q_net.input, model.q_net.get_layer("feat").output)
    feats = tf.concat([f(x[i : i + 2000]) for i in range(0, len(x), 2000)], 0).numpy()
    n = int(0.8 * len(x))
    A = np.hstack([feats, np.ones((len(feats), 1))])
    Y = np.eye(n_cls)[y]
    W = np.linalg.solve(A[:n].T @ A[:n] + 1.0 * np.eye(A.shape[1]), A[:n].T @ Y[:n])
    return float(np.mean((A[n:] @ W).argmax(1) == y[n:]))


def main():
    cfg = Config()
    x, y = load(cfg)
    ds = (
        tf.data.Dataset.from_tensor_slices(x)
        .shuffle(20000)
        .batch(cfg.batch, drop_remainder=True)
        .prefetch(2)
    )
    model = MoCo(cfg)
    t0, n = time.time(), 0
    for epoch in range(cfg.epochs):
        for xb in ds:
            loss, acc = model.step(xb)
            n += 1
            if n % 20 == 0:
                print(
                    f"[{epoch}] it {n:4d} infoNCE {float(loss):.3f} top1 {float(acc):.3f} t={time.time() - t0:.1f}"
                )
    print("linear probe accuracy: %.3f" % linear_probe(model, x, y, cfg.n_cls))


if __name__ == "__main__":
    main()
