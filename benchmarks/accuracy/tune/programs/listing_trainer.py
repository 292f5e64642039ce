"""Multi-task model of property listings (price, days on market, will it be relisted)."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import dataclasses
import logging
import pathlib
import queue
import shutil
import tempfile
import threading

import keras
import numpy as np
import tensorflow as tf
from keras import layers

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("listings")


@dataclasses.dataclass
class Config:
    streets: int = 24000
    agents: int = 4000
    width: int = 64
    batch: int = 256
    steps: int = 1500
    log_every: int = 50
    keep_every: int = 20
    keep_last: int = 3
    lr: float = 0.08
    seed: int = 17


class ListingStream(threading.Thread):
    """Draws listings in the background and puts them on a bounded queue."""

    def __init__(self, cfg):
        super().__init__(daemon=True)
        self.cfg = cfg
        self.batches = queue.Queue(maxsize=8)
        fixed = np.random.default_rng(cfg.seed)
        self.street_value = fixed.normal(0, 1.0, cfg.streets).astype(np.float32)
        self.agent_speed = fixed.normal(0, 0.6, cfg.agents).astype(np.float32)
        self.rng = np.random.default_rng(cfg.seed + 1)

    def draw(self):
        n, rng = self.cfg.batch, self.rng
        street = (self.cfg.streets * rng.random(n) ** 3).astype(np.int32)
        agent = rng.integers(0, self.cfg.agents, n, dtype=np.int32)
        facts = rng.normal(size=(n, 12)).astype(np.float32)
        price = self.street_value[street] + 0.6 * facts[:, 0] - 0.3 * facts[:, 1] * facts[:, 2]
        days = 0.5 * price - self.agent_speed[agent] + 0.2 * rng.normal(size=n)
        again = (days + rng.logistic(size=n) * 0.5 > 0.4).astype(np.float32)
        return (street, agent, facts), (price.astype(np.float32), days.astype(np.float32), again)

    def run(self):
        for _ in range(self.cfg.steps):
            self.batches.put(self.draw())
        self.batches.put(None)


class Hook:
    def after_step(self, trainer, losses):
        pass


class LogHook(Hook):
    def __init__(self):
        self.sums = np.zeros(3)

    def after_step(self, trainer, losses):
        self.sums += losses.numpy()
        every = trainer.cfg.log_every
        if trainer.step % every == 0:
            price, days, again = self.sums / every
            log.info(
                "step %4d  price %.4f  days %.4f  relisted %.4f", trainer.step, price, days, again
            )
            self.sums[:] = 0


class KeepHook(Hook):
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.kept = []

    def after_step(self, trainer, losses):
        if trainer.step % trainer.cfg.keep_every:
            return
        path = self.folder / f"listings_{trainer.step:05d}.keras"
        trainer.model.save(path)
        self.kept.append(path)
        while len(self.kept) > trainer.cfg.keep_last:
            self.kept.pop(0).unlink()


class Trainer:
    def __init__(self, cfg, hooks):
        self.cfg, self.hooks, self.step = cfg, hooks, 0
        self.model = self.build()
        self.optimizer = keras.optimizers.Adagrad(cfg.lr)
        self.model.compile(optimizer=self.optimizer)
        self.log_vars = tf.Variable(tf.zeros(3))

    def build(self):
        c = self.cfg
        street, agent = keras.Input((), dtype="int32"), keras.Input((), dtype="int32")
        facts = keras.Input((12,))
        x = layers.Concatenate()(
            [
                layers.Embedding(c.streets, c.width)(street),
                layers.Embedding(c.agents, c.width)(agent),
                facts,
            ]
        )
        for units in (384, 192):
            x = layers.Dense(units, activation="relu")(x)
        heads = [layers.Dense(1, name=name)(x) for name in ("price", "days", "relisted")]
        return keras.Model([street, agent, facts], heads, name="listings")

    @tf.function
    def update(self, inputs, targets):
        price, days, again = targets
        with tf.GradientTape() as tape:
            p, d, r = [tf.squeeze(o, -1) for o in self.model(list(inputs), training=True)]
            losses = tf.stack(
                [
                    tf.reduce_mean((p - price) ** 2),
                    tf.reduce_mean((d - days) ** 2),
                    tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(again, r)),
                ]
            )
            total = tf.reduce_sum(tf.exp(-self.log_vars) * losses + 0.5 * self.log_vars)
        variables = self.model.trainable_variables
        grads = tape.gradient(total, variables + [self.log_vars])
        self.optimizer.apply(grads[:-1], variables)
        self.log_vars.assign_sub(0.01 * grads[-1])
        return losses

    def fit(self, stream):
        stream.start()
        while (item := stream.batches.get()) is not None:
            self.step += 1
            losses = self.update(*tf.nest.map_structure(tf.constant, item))
            for hook in self.hooks:
                hook.after_step(self, losses)
        log.info("task weights %s", np.round(np.exp(-self.log_vars.numpy()), 3))


if __name__ == "__main__":
    config = Config()
    keras.utils.set_random_seed(config.seed)
    out = tempfile.mkdtemp(prefix="listings_")
    try:
        Trainer(config, [LogHook(), KeepHook(out)]).fit(ListingStream(config))
        log.info("kept %s", sorted(p.name for p in pathlib.Path(out).iterdir()))
    finally:
        shutil.rmtree(out)
