"""Stall coupons at a night market: learn from every shopper right after the offer."""

import numpy as np
import tensorflow as tf

SHOPPERS, STALLS = 20000, 600
BATCH = 512
STEPS = 2600
OFFER_SHARE = 0.12


class Crowd:
    """Draws shoppers and stalls, and says who would take the coupon."""

    def __init__(self, seed=1):
        self.rng = np.random.default_rng(seed)
        self.taste = self.rng.normal(size=(SHOPPERS, 6)).astype(np.float32)
        self.appeal = self.rng.normal(size=(STALLS, 6)).astype(np.float32)

    def draw(self):
        who = self.rng.zipf(1.25, BATCH) % SHOPPERS
        where = self.rng.integers(0, STALLS, BATCH)
        utility = (self.taste[who] * self.appeal[where]).sum(1) - 1.5
        took = self.rng.random(BATCH) < 1 / (1 + np.exp(-utility))
        return who.astype(np.int32), where.astype(np.int32), took.astype(np.float32)


class Ranker(tf.keras.Model):
    def __init__(self, dim=24):
        super().__init__()
        self.shopper = tf.keras.layers.Embedding(SHOPPERS, dim)
        self.stall = tf.keras.layers.Embedding(STALLS, dim)
        self.mix = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(64, activation="relu"),
                tf.keras.layers.Dense(32, activation="relu"),
                tf.keras.layers.Dense(1),
            ]
        )

    def call(self, who, where):
        a, b = self.shopper(who), self.stall(where)
        return self.mix(tf.concat([a, b, a * b], 1))[:, 0]


class OfferPolicy:
    """Offers go to shoppers whose score is in the top share of what was seen."""

    def __init__(self, share):
        self.share = share
        self.seen = []

    def choose(self, scores):
        self.seen.append(scores)
        level = np.quantile(np.concatenate(self.seen), 1.0 - self.share)
        return scores >= level


def main():
    tf.keras.utils.set_random_seed(5)
    crowd, model = Crowd(), Ranker()
    policy = OfferPolicy(OFFER_SHARE)
    opt = tf.keras.optimizers.Adagrad(0.05)
    who, where, _ = crowd.draw()
    model(who, where)
    opt.build(model.trainable_variables)

    spec = [tf.TensorSpec((BATCH,), tf.int32), tf.TensorSpec((BATCH,), tf.int32)]

    @tf.function(input_signature=spec)
    def score(who, where):
        return tf.sigmoid(model(who, where))

    @tf.function(input_signature=spec + [tf.TensorSpec((BATCH,), tf.float32)])
    def learn(who, where, took):
        with tf.GradientTape() as tape:
            logits = model(who, where)
            loss = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=took, logits=logits)
            )
        opt.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        return loss

    offers = taken = 0
    running = 0.7
    for step in range(1, STEPS + 1):
        who, where, took = crowd.draw()
        chosen = policy.choose(score(who, where).numpy())
        offers += int(chosen.sum())
        taken += int(took[chosen].sum())
        loss = float(learn(who, where, took))
        running += 0.02 * (loss - running)
        if step % 200 == 0:
            print(f"{step:5d} loss {running:.4f} offers {offers} taken {taken / offers:.3f}")
            offers = taken = 0


if __name__ == "__main__":
    main()
