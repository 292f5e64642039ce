"""Two-tower retrieval model with in-batch sampled softmax on implicit feedback."""

import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    users: int = 8000
    items: int = 12000
    clusters: int = 40
    interactions_per_user: int = 30
    dim: int = 48
    batch: int = 1024
    epochs: int = 8
    eval_users: int = 4500
    top_k: int = 20
    temperature: float = 0.12
    seed: int = 5


def simulate(cfg):
    """Every user likes three clusters of items; popularity inside a cluster is skewed."""
    rng = np.random.default_rng(cfg.seed)
    item_cluster = rng.integers(0, cfg.clusters, cfg.items)
    members = [np.flatnonzero(item_cluster == c) for c in range(cfg.clusters)]
    users, items = [], []
    for u in range(cfg.users):
        taste = rng.choice(cfg.clusters, 3, replace=False)
        picks = []
        for c in rng.choice(taste, cfg.interactions_per_user, p=[0.6, 0.3, 0.1]):
            pool = members[c]
            picks.append(pool[int(len(pool) * rng.random() ** 2.5)])
        picks = np.unique(picks)
        users.append(np.full(len(picks), u))
        items.append(picks)
    users, items = np.concatenate(users), np.concatenate(items)
    held_out = rng.random(len(users)) < 0.15
    return (users[~held_out], items[~held_out]), (users[held_out], items[held_out])


class Tower(tf.keras.Model):
    def __init__(self, count, dim):
        super().__init__()
        self.table = tf.keras.layers.Embedding(count, dim)
        self.hidden = tf.keras.layers.Dense(128, activation="relu")
        self.out = tf.keras.layers.Dense(dim)

    def call(self, ids):
        e = self.table(ids)
        return tf.math.l2_normalize(e + self.out(self.hidden(e)), axis=-1)


class Evaluator:
    def __init__(self, cfg, train, test):
        self.cfg = cfg
        rng = np.random.default_rng(1)
        candidates = np.unique(test[0])
        self.users = np.sort(rng.choice(candidates, cfg.eval_users, replace=False))
        row_of = np.full(cfg.users, -1)
        row_of[self.users] = np.arange(cfg.eval_users)
        keep = row_of[train[0]] >= 0
        self.seen = row_of[train[0][keep]], train[1][keep]
        self.relevant = np.zeros((cfg.eval_users, cfg.items), bool)
        keep = row_of[test[0]] >= 0
        self.relevant[row_of[test[0][keep]], test[1][keep]] = True
        self.count = self.relevant.sum(1)

    def __call__(self, user_vectors, item_vectors):
        scores = user_vectors @ item_vectors.T
        scores[self.seen] = -np.inf
        ranked = np.argsort(-scores, axis=1)[:, : self.cfg.top_k]
        hits = np.take_along_axis(self.relevant, ranked, axis=1).sum(1)
        recall = np.mean(hits / np.minimum(self.count, self.cfg.top_k))
        return {"recall": recall, "hit_rate": np.mean(hits > 0)}


def main():
    cfg = Config()
    tf.keras.utils.set_random_seed(cfg.seed)
    train, test = simulate(cfg)
    popularity = np.bincount(train[1], minlength=cfg.items) + 1.0
    log_q = tf.constant(np.log(popularity / popularity.sum()), tf.float32)

    train_users, train_items = train[0].astype(np.int32), train[1].astype(np.int32)
    shuffler = np.random.default_rng(cfg.seed + 1)
    steps_per_epoch = len(train_users) // cfg.batch

    user_tower, item_tower = Tower(cfg.users, cfg.dim), Tower(cfg.items, cfg.dim)
    user_tower(tf.zeros([1], tf.int32)), item_tower(tf.zeros([1], tf.int32))
    variables = user_tower.trainable_variables + item_tower.trainable_variables
    lr = tf.keras.optimizers.schedules.CosineDecay(6e-3, steps_per_epoch * cfg.epochs, alpha=0.1)
    optimizer = tf.keras.optimizers.Adam(lr)

    @tf.function
    def train_step(users, items):
        with tf.GradientTape() as tape:
            u, v = user_tower(users), item_tower(items)
            logits = tf.matmul(u, v, transpose_b=True) / cfg.temperature
            logits -= tf.gather(log_q, items)[tf.newaxis, :]
            duplicate = tf.equal(items[:, tf.newaxis], items[tf.newaxis, :])
            duplicate = tf.linalg.set_diag(duplicate, tf.zeros_like(items, tf.bool))
            logits = tf.where(duplicate, -1e9, logits)
            labels = tf.range(tf.shape(users)[0])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def embed_all(count_users):
        return user_tower(count_users), item_tower(tf.range(cfg.items))

    evaluator = Evaluator(cfg, train, test)
    eval_ids = tf.constant(evaluator.users, tf.int32)
    eval_every = steps_per_epoch // 2
    step, started = 0, time.time()
    for epoch in range(cfg.epochs):
        total = 0.0
        order = shuffler.permutation(len(train_users))
        for lo in range(0, steps_per_epoch * cfg.batch, cfg.batch):
            pick = order[lo : lo + cfg.batch]
            total += train_step(train_users[pick], train_items[pick])
            step += 1
            if step % eval_every == 0:
                u, v = embed_all(eval_ids)
                report = evaluator(u.numpy(), v.numpy())
                print(
                    f"step {step:5d} recall@{cfg.top_k} {report['recall']:.4f} "
                    f"hit rate {report['hit_rate']:.4f}"
                )
        print(
            f"epoch {epoch + 1} loss {float(total) / steps_per_epoch:.4f} {time.time() - started:.1f}s"
        )


if __name__ == "__main__":
    main()
