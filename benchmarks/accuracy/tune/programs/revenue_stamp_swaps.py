"""Two-tower recommender for collectors who swap revenue stamps, trained month by month."""

import argparse
import json
import os
import tempfile
import time

import numpy as np
import tensorflow as tf


class Towers(tf.Module):
    def __init__(self, collectors, stamps, dim, seed):
        super().__init__()
        g = tf.random.Generator.from_seed(seed)
        self.collector = tf.Variable(g.normal((collectors, dim), stddev=0.1), name="collector")
        self.stamp = tf.Variable(g.normal((stamps, dim), stddev=0.1), name="stamp")
        self.mix1 = tf.Variable(g.normal((dim, 256), stddev=dim**-0.5), name="mix1")
        self.mix2 = tf.Variable(g.normal((256, dim), stddev=256**-0.5), name="mix2")
        self.bias = tf.Variable(tf.zeros(stamps), name="bias")

    def query(self, who):
        base = tf.gather(self.collector, who)
        return base + tf.nn.relu(base @ self.mix1) @ self.mix2

    def loss(self, who, what):
        q = tf.math.l2_normalize(self.query(who), axis=1)
        s = tf.math.l2_normalize(tf.gather(self.stamp, what), axis=1)
        logits = 12.0 * tf.matmul(q, s, transpose_b=True)
        logits += tf.gather(self.bias, what)[None, :]
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.range(tf.shape(who)[0]), logits=logits
            )
        )


def swaps_of_month(rng, taste_c, taste_s, n):
    who = rng.integers(0, len(taste_c), n)
    cand = rng.integers(0, len(taste_s), (n, 8))
    score = np.einsum("nd,nkd->nk", taste_c[who], taste_s[cand])
    return who.astype("int32"), cand[np.arange(n), score.argmax(1)].astype("int32")


class SwapTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.lr = lr
        self.start_month()

    def start_month(self):
        self.opt = tf.keras.optimizers.Adam(self.lr)
        self.opt.build(self.model.trainable_variables)
        self.step = tf.function(self._step, reduce_retracing=True)

    def _step(self, who, what):
        with tf.GradientTape() as tape:
            loss = self.model.loss(who, what)
        variables = self.model.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss


class Ledger:
    """Every swap batch goes into the club's ledger, one JSON record each."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "ledger.json")
        self.records = []

    def enter(self, **record):
        self.records.append(record)
        tmp = self.path + ".new"
        with open(tmp, "w") as f:
            json.dump(self.records, f, indent=1)
            f.flush()
            os.fsync(f.fileno())
        os.replace(tmp, self.path)


def recall_at(model, who, what, k=50):
    q = tf.math.l2_normalize(model.query(who), axis=1)
    s = tf.math.l2_normalize(model.stamp, axis=1)
    top = tf.math.top_k(tf.matmul(q, s, transpose_b=True), k).indices.numpy()
    return float((top == what[:, None]).any(1).mean())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--collectors", type=int, default=12000)
    ap.add_argument("--stamps", type=int, default=16000)
    ap.add_argument("--dim", type=int, default=48)
    ap.add_argument("--weeks", type=int, default=32)
    ap.add_argument("--batches", type=int, default=16)
    ap.add_argument("--batch", type=int, default=256)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(19)
    rng = np.random.default_rng(19)
    taste_c = rng.normal(size=(args.collectors, 6))
    taste_s = rng.normal(size=(args.stamps, 6))
    model = Towers(args.collectors, args.stamps, args.dim, seed=4)
    trainer = SwapTrainer(model, 3e-3)
    ledger = Ledger(tempfile.mkdtemp(prefix="stamps_"))
    seen = 0
    for week in range(args.weeks):
        t0 = time.time()
        if week >= 8:
            trainer.start_month()
        who, what = swaps_of_month(rng, taste_c, taste_s, args.batches * args.batch)
        losses = []
        for i in range(args.batches):
            part = slice(i * args.batch, (i + 1) * args.batch)
            loss = float(trainer.step(tf.constant(who[part]), tf.constant(what[part])))
            losses.append(loss)
            seen += args.batch
            ledger.enter(
                week=week,
                batch=i,
                loss=round(loss, 5),
                swaps=seen,
                collectors=who[part][:12].tolist(),
                stamps=what[part][:12].tolist(),
            )
        print(f"week {week:2d}  loss {np.mean(losses):.4f}  {time.time() - t0:.2f}s")
    who, what = swaps_of_month(rng, taste_c, taste_s, 512)
    print("recall@50 of next week's swaps:", round(recall_at(model, who, what), 3))
    print("ledger:", os.path.getsize(ledger.path) // 1024, "KiB")


if __name__ == "__main__":
    main()
