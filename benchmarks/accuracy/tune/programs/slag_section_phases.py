"""Phase maps of polished blast-furnace slag (melilite / merwinite / glass / metal).

Small U-Net, custom loop under a OneDeviceStrategy.  The region term of the loss is
mixed with a boundary term once the coarse maps have settled.
"""

import dataclasses
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras

L = keras.layers


@dataclasses.dataclass
class SlagConfig:
    side: int = 48
    n_sections: int = 384
    n_held_out: int = 64
    n_phases: int = 4
    batch: int = 32
    epochs: int = 9
    settle_epochs: int = 3
    ramp_steps: int = 66
    boundary_max: float = 0.6
    base: int = 8
    lr: float = 2e-3
    seed: int = 5
    workdir: str = dataclasses.field(default_factory=lambda: tempfile.mkdtemp(prefix="slag_"))


# ------------------------------------------------------------------ data
def voronoi_section(rng, side, n_phases, grains=14):
    pts = rng.uniform(0, side, (grains, 2))
    kind = rng.integers(0, n_phases, grains)
    yy, xx = np.mgrid[0:side, 0:side]
    d = (yy[..., None] - pts[:, 0]) ** 2 + (xx[..., None] - pts[:, 1]) ** 2
    return kind[d.argmin(-1)].astype("int32")


def make_sections(cfg, n, rng):
    tint = np.array(
        [[0.55, 0.50, 0.45], [0.60, 0.58, 0.50], [0.30, 0.32, 0.38], [0.85, 0.85, 0.82]], "float32"
    )
    masks = np.stack([voronoi_section(rng, cfg.side, cfg.n_phases) for _ in range(n)])
    photos = tint[masks] + rng.normal(0, 0.09, masks.shape + (3,)).astype("float32")
    light = rng.uniform(0.85, 1.15, (n, 1, 1, 1)).astype("float32")
    return (photos * light).astype("float32"), masks


def boundary_of(mask):
    up = tf.not_equal(mask[1:, :], mask[:-1, :])
    left = tf.not_equal(mask[:, 1:], mask[:, :-1])
    edge = tf.logical_or(tf.pad(up, [[1, 0], [0, 0]]), tf.pad(left, [[0, 0], [1, 0]]))
    return tf.cast(edge, tf.float32)


def flip_both(photo, mask, edge):
    if tf.random.uniform(()) < 0.5:
        photo, mask, edge = photo[:, ::-1], mask[:, ::-1], edge[:, ::-1]
    return photo, mask, edge


def build_pipeline(cfg, photos, masks, train):
    ds = tf.data.Dataset.from_tensor_slices((photos, masks))
    ds = ds.map(lambda p, m: (p, m, boundary_of(m)), num_parallel_calls=2).cache()
    if train:
        ds = ds.shuffle(len(photos), seed=cfg.seed).map(flip_both, num_parallel_calls=2)
    return ds.batch(cfg.batch, drop_remainder=train).prefetch(2)


# ------------------------------------------------------------------ model
class ConvPair(L.Layer):
    def __init__(self, filters, **kw):
        super().__init__(**kw)
        self.c1 = L.Conv2D(filters, 3, padding="same", use_bias=False)
        self.n1 = L.GroupNormalization(groups=4)
        self.c2 = L.Conv2D(filters, 3, padding="same", activation="relu")

    def call(self, x):
        return self.c2(tf.nn.relu(self.n1(self.c1(x))))


class SlagNet(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        b = cfg.base
        self.d1, self.d2, self.mid = ConvPair(b), ConvPair(2 * b), ConvPair(4 * b)
        self.u2, self.u1 = ConvPair(2 * b), ConvPair(b)
        self.pool = L.MaxPooling2D()
        self.up = L.UpSampling2D()
        self.phase = L.Conv2D(cfg.n_phases, 1)
        self.edge = L.Conv2D(1, 1)

    def call(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        m = self.mid(self.pool(b))
        b = self.u2(tf.concat([self.up(m), b], -1))
        a = self.u1(tf.concat([self.up(b), a], -1))
        return self.phase(a), self.edge(a)[..., 0]


# ------------------------------------------------------------------ losses and metrics
def dice_gap(logits, mask, n):
    p = tf.nn.softmax(logits)
    t = tf.one_hot(mask, n)
    inter = tf.reduce_sum(p * t, [0, 1, 2])
    size = tf.reduce_sum(p + t, [0, 1, 2])
    return 1.0 - tf.reduce_mean((2.0 * inter + 1.0) / (size + 1.0))


class LossMix:
    """Relative weights of the two terms; boundary comes in after the settling epochs."""

    def __init__(self, cfg, steps_per_epoch):
        self.start = cfg.settle_epochs * steps_per_epoch
        self.length = cfg.ramp_steps
        self.top = cfg.boundary_max

    def at(self, step):
        frac = (step - self.start) / self.length
        b = self.top * min(1.0, max(0.0, round(frac * 7) / 7))
        return {"region": 1.0 - b, "boundary": b}


# ------------------------------------------------------------------ training
class SlagTrainer:
    def __init__(self, cfg, strategy):
        self.cfg = cfg
        self.strategy = strategy
        with strategy.scope():
            self.net = SlagNet(cfg)
            self.net(tf.zeros([1, cfg.side, cfg.side, 3]))
            self.opt = keras.optimizers.AdamW(cfg.lr, weight_decay=1e-4)
            self.opt.build(self.net.trainable_variables)
            self.iou = keras.metrics.MeanIoU(cfg.n_phases)
        self.ckpt = tf.train.Checkpoint(net=self.net, opt=self.opt)
        self.manager = tf.train.CheckpointManager(self.ckpt, cfg.workdir, max_to_keep=1)
        self.best = 0.0

    def _loss(self, photo, mask, edge, mix):
        phase, border = self.net(photo, training=True)
        ce = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(mask, phase))
        region = ce + dice_gap(phase, mask, self.cfg.n_phases)
        bce = tf.reduce_mean(tf.nn.weighted_cross_entropy_with_logits(edge, border, 3.0))
        return mix["region"] * region + mix["boundary"] * bce

    @tf.function
    def train_step(self, photo, mask, edge, mix):
        def replica(photo, mask, edge):
            with tf.GradientTape() as tape:
                loss = self._loss(photo, mask, edge, mix)
            grads = tape.gradient(
                loss,
                self.net.trainable_variables,
                unconnected_gradients=tf.UnconnectedGradients.ZERO,
            )
            self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
            return loss

        return self.strategy.run(replica, args=(photo, mask, edge))

    @tf.function
    def eval_step(self, photo, mask):
        phase, _ = self.net(photo, training=False)
        self.iou.update_state(mask, tf.argmax(phase, -1))

    def validate(self, ds):
        self.iou.reset_state()
        for photo, mask, _ in ds:
            self.eval_step(photo, mask)
        return float(self.iou.result())

    def fit(self, train, held_out, mixing):
        step = 0
        for epoch in range(self.cfg.epochs):
            t0 = time.time()
            losses = []
            for photo, mask, edge in train:
                losses.append(self.train_step(photo, mask, edge, mixing.at(step)))
                step += 1
            score = self.validate(held_out) if epoch % 2 else None
            if score is not None and score > self.best:
                self.best = score
                self.manager.save()
            shown = f"  mIoU {score:.3f}" if score is not None else ""
            print(
                f"epoch {epoch + 1:2d}  loss {np.mean([float(l) for l in losses]):.4f}{shown}"
                f"  ({time.time() - t0:.2f}s)",
                flush=True,
            )


def main():
    cfg = SlagConfig()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    photos, masks = make_sections(cfg, cfg.n_sections + cfg.n_held_out, rng)
    train = build_pipeline(cfg, photos[cfg.n_held_out :], masks[cfg.n_held_out :], True)
    held_out = build_pipeline(cfg, photos[: cfg.n_held_out], masks[: cfg.n_held_out], False)
    trainer = SlagTrainer(cfg, tf.distribute.OneDeviceStrategy("/cpu:0"))
    trainer.fit(train, held_out, LossMix(cfg, cfg.n_sections // cfg.batch))
    print(f"best mIoU {trainer.best:.3f}")


if __name__ == "__main__":
    main()
