#!/usr/bin/env python
# Routes helpdesk tickets to one of 12 queues. Word-id CNN, momentum SGD written out by hand.
import queue
import threading
import numpy as np
import tensorflow as tf

VOCAB, SEQ, QUEUES = 6000, 48, 12
BATCH, STEPS = 64, 700
PEAK_LR, HOLD = 0.08, 300

tf.keras.utils.set_random_seed(5)


def make_tickets(n, rng):
    """Every queue has its own favourite words; a third of each ticket is small talk."""
    favourites = rng.integers(100, VOCAB, size=(QUEUES, 150))
    labels = rng.integers(0, QUEUES, size=n)
    tickets = rng.integers(1, 400, size=(n, SEQ))
    own = rng.random((n, SEQ)) < 0.35
    picks = favourites[labels[:, None], rng.integers(0, 150, size=(n, SEQ))]
    tickets = np.where(own, picks, tickets)
    lengths = rng.integers(15, SEQ + 1, size=n)
    tickets[np.arange(SEQ)[None, :] >= lengths[:, None]] = 0
    return tickets.astype(np.int32), labels.astype(np.int32)


class BatchFeed(threading.Thread):
    """Prepares batches (word dropout, shuffling) beside the training loop."""

    def __init__(self, tickets, labels, depth=8):
        super().__init__(daemon=True)
        self.tickets, self.labels = tickets, labels
        self.out = queue.Queue(maxsize=depth)
        self.stop = threading.Event()
        self.rng = np.random.default_rng(77)

    def compose(self):
        rows = self.rng.integers(0, len(self.tickets), size=BATCH)
        ids = self.tickets[rows].copy()
        ids[self.rng.random(ids.shape) < 0.08] = 0
        return ids, self.labels[rows]

    def run(self):
        while not self.stop.is_set():
            batch = self.compose()
            delivered = False
            while not delivered and not self.stop.is_set():
                try:
                    self.out.put(batch, timeout=0.5)
                    delivered = True
                except queue.Full:
                    continue

    def next(self):
        return self.out.get()


class Router(tf.Module):
    def __init__(self, dim=48, width=96):
        super().__init__()
        init = tf.random_normal_initializer(stddev=0.05)
        glorot = tf.keras.initializers.GlorotUniform(seed=3)
        self.table = tf.Variable(init((VOCAB, dim)), name="table")
        self.kernels = [tf.Variable(glorot((k, dim, width)), name=f"conv{k}") for k in (2, 3, 4)]
        self.biases = [tf.Variable(tf.zeros(width), name=f"bias{k}") for k in (2, 3, 4)]
        self.w1 = tf.Variable(glorot((3 * width, 128)), name="w1")
        self.b1 = tf.Variable(tf.zeros(128), name="b1")
        self.w2 = tf.Variable(glorot((128, QUEUES)), name="w2")
        self.b2 = tf.Variable(tf.zeros(QUEUES), name="b2")

    def __call__(self, ids, drop=0.0):
        words = tf.gather(self.table, ids)
        words *= tf.cast(ids > 0, tf.float32)[..., None]
        parts = []
        for kernel, bias in zip(self.kernels, self.biases):
            h = tf.nn.relu(tf.nn.conv1d(words, kernel, 1, "SAME") + bias)
            parts.append(tf.reduce_max(h, axis=1))
        h = tf.concat(parts, axis=-1)
        if drop:
            h = tf.nn.dropout(h, drop)
        h = tf.nn.relu(h @ self.w1 + self.b1)
        return h @ self.w2 + self.b2


router = Router()
params = list(router.trainable_variables)
velocity = [tf.Variable(tf.zeros_like(p), trainable=False) for p in params]


@tf.function
def update(ids, labels, lr):
    with tf.GradientTape() as tape:
        logits = router(ids, drop=0.2)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
    grads = tape.gradient(loss, params)
    for p, m, g in zip(params, velocity, grads):
        m.assign(0.9 * m + tf.convert_to_tensor(g))
        p.assign_sub(lr * m)
    return loss


@tf.function
def hits(ids, labels):
    guess = tf.argmax(router(ids), axis=-1, output_type=tf.int32)
    return tf.reduce_sum(tf.cast(guess == labels, tf.int32))


def rate(step):
    if step < HOLD:
        return PEAK_LR
    stage = (step - HOLD) // 5
    return PEAK_LR * 0.97**stage


def held_out_score(x, y, chunk=500):
    good = 0
    for i in range(0, len(x), chunk):
        good += int(hits(tf.constant(x[i : i + chunk]), tf.constant(y[i : i + chunk])))
    return good / len(x)


def main():
    rng = np.random.default_rng(0)
    tickets, labels = make_tickets(24000, rng)
    train_x, train_y = tickets[:23000], labels[:23000]
    held_x, held_y = tickets[23000:], labels[23000:]

    feed = BatchFeed(train_x, train_y)
    feed.start()
    running, best, keep = 0.0, 0.0, params
    for step in range(STEPS):
        ids, target = feed.next()
        loss = update(tf.constant(ids), tf.constant(target), rate(step))
        running += float(loss)
        score = held_out_score(held_x, held_y)
        if score > best:
            best, keep = score, [tf.identity(p) for p in params]
        if (step + 1) % 100 == 0:
            print(f"{step + 1:5d}  loss {running / 100:.4f}  held-out {score:.3f}  best {best:.3f}")
            running = 0.0
    feed.stop.set()
    feed.join()
    np.savez("router.npz", *[p.numpy() for p in keep])


if __name__ == "__main__":
    main()
