"""Learned auction: allocation and payments by a net, regret by a few steps of ascent on the bids."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
BIDDERS, GOODS, BATCH, STEPS = 3, 4, 512, 500
LR, HALF_LIFE = 3e-3, 150


class Auction:
    def __init__(self, width=128):
        size = BIDDERS * GOODS
        dense = tf.keras.layers.Dense
        self.trunk = [dense(width, activation="tanh") for _ in range(3)]
        self.allocate = dense((BIDDERS + 1) * GOODS)
        self.pay = dense(BIDDERS, activation="sigmoid")
        self(tf.zeros([1, size]))
        parts = [*self.trunk, self.allocate, self.pay]
        self.weights = [w for part in parts for w in part.trainable_variables]

    def __call__(self, bids):
        x = bids
        for layer in self.trunk:
            x = layer(x)
        share = tf.nn.softmax(tf.reshape(self.allocate(x), [-1, BIDDERS + 1, GOODS]), axis=1)
        share = share[:, :BIDDERS]
        worth = tf.reduce_sum(share * tf.reshape(bids, [-1, BIDDERS, GOODS]), -1)
        return share, self.pay(x) * worth


def utility(auction, truth, bids):
    share, payment = auction(bids)
    return tf.reduce_sum(share * tf.reshape(truth, [-1, BIDDERS, GOODS]), -1) - payment


def misreport(auction, truth, rounds=1):
    bids = truth * tf.random.uniform(tf.shape(truth), 0.6, 1.4)
    for _ in range(rounds):
        with tf.GradientTape() as tape:
            tape.watch(bids)
            gain = tf.reduce_sum(utility(auction, truth, bids))
        bids = tf.clip_by_value(bids + 0.1 * tape.gradient(gain, bids), 0.0, 1.0)
    return bids


auction = Auction()


@tf.function
def gradients(truth, price):
    lie = misreport(auction, truth)
    with tf.GradientTape() as tape:
        _, payment = auction(truth)
        regret = utility(auction, truth, lie) - utility(auction, truth, truth)
        regret = tf.reduce_mean(tf.nn.relu(regret))
        loss = -tf.reduce_mean(tf.reduce_sum(payment, -1)) + price * regret
    return tape.gradient(loss, auction.weights), loss, regret


def learn(truth, price, lr):
    grads, loss, regret = gradients(truth, tf.constant(price))
    optimizer = tf.keras.optimizers.Adam(learning_rate=lr)
    optimizer.apply_gradients(zip(grads, auction.weights))
    return float(loss), float(regret)


def main():
    price = 5.0
    for step in range(STEPS):
        truth = tf.random.uniform([BATCH, BIDDERS * GOODS])
        loss, regret = learn(truth, price, LR * 0.5 ** (step / HALF_LIFE))
        price += 0.5 * regret
        if step % 30 == 0:
            print(f"{step:4d} revenue {-loss + price * regret:.3f} regret {regret:.4f}")
    np.savez("auction.npz", *[w.numpy() for w in auction.weights])


main()
