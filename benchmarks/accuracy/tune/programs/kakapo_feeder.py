"""Which bird is on the feeder? Load-cell traces -> identity. Port of our old PyTorch trainer."""

import dataclasses
import logging
import tempfile

import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("feeder")


@dataclasses.dataclass
class Config:
    birds: int = 12
    length: int = 60
    width: int = 6
    units: int = 160
    batch: int = 48
    steps: int = 330
    burn_in: int = 120
    log_every: int = 30
    seed: int = 21
    lr: float = 1.5e-3


class FeederVisits:
    """Synthetic visits, with the mislabelling rate that we see in the field."""

    def __init__(self, cfg, n=4000):
        rng = np.random.default_rng(cfg.seed)
        self.y = rng.integers(0, cfg.birds, n)
        mass = 1.2 + 0.12 * self.y
        t = np.linspace(0, 1, cfg.length)
        bounce = np.exp(-6 * t)[None] * np.sin(2 * np.pi * t[None] * (3 + self.y % 5)[:, None])
        trace = mass[:, None] * (1 - np.exp(-20 * t))[None] + 0.5 * bounce
        self.x = np.repeat(trace[:, :, None], cfg.width, 2)
        self.x += rng.normal(0, 0.25, self.x.shape)
        self.x = self.x.astype("float32")
        wrong = rng.random(n) < 0.2
        self.y[wrong] = rng.integers(0, cfg.birds, wrong.sum())

    def loader(self, cfg):
        ds = tf.data.Dataset.from_tensor_slices((self.x, self.y.astype("int32")))
        ds = ds.shuffle(len(self.y), seed=cfg.seed).repeat().batch(cfg.batch, drop_remainder=True)
        return ds.prefetch(4)


class FeederNet(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.stem = tf.keras.layers.Conv1D(128, 5, strides=2, activation="relu", padding="same")
        self.rnn = tf.keras.layers.GRU(cfg.units, return_sequences=True)
        self.pool = tf.keras.layers.GlobalAveragePooling1D()
        self.wide = tf.keras.layers.Dense(2048, activation="relu")
        self.mid = tf.keras.layers.Dense(768, activation="relu")
        self.head = tf.keras.layers.Dense(cfg.birds)

    def call(self, x):
        h = self.pool(self.rnn(self.stem(x)))
        return self.head(self.mid(self.wide(h)))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = FeederNet(cfg)
        self.opt = tf.keras.optimizers.Adam(cfg.lr)
        self.criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.step = tf.Variable(0, dtype=tf.int64)
        self.ckpt = tf.train.Checkpoint(net=self.net, opt=self.opt, step=self.step)
        self.folder = tempfile.mkdtemp(prefix="feeder_")
        self.manager = tf.train.CheckpointManager(self.ckpt, self.folder, max_to_keep=3)
        self.best = float("inf")
        self.running = None

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            loss = self.criterion(y, logits)
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        self.step.assign_add(1)
        return loss

    def maybe_keep(self, step, loss):
        if step < self.cfg.burn_in:
            return
        best = self.best
        if loss < best:
            best = loss
            self.manager.save(checkpoint_number=step)

    def run(self, loader):
        losses = []
        it = iter(loader)
        for step in range(1, self.cfg.steps + 1):
            x, y = next(it)
            loss = float(self.train_step(x, y))
            losses.append(loss)
            self.maybe_keep(step, loss)
            if step % self.cfg.log_every == 0:
                log.info("step %d loss %.4f", step, np.mean(losses[-self.cfg.log_every :]))
        return losses


def main():
    cfg = Config()
    tf.random.set_seed(cfg.seed)
    visits = FeederVisits(cfg)
    trainer = Trainer(cfg)
    losses = trainer.run(visits.loader(cfg))
    log.info(
        "last 50 steps: %.4f, newest file %s",
        np.mean(losses[-50:]),
        trainer.manager.latest_checkpoint,
    )


if __name__ == "__main__":
    main()
