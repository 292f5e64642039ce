"""Which advertisement to show: a neural bandit in plain eager code."""

import numpy as np
import tensorflow as tf

ARMS, CONTEXT = 6, 12
rng = np.random.default_rng(10)
secret = rng.normal(size=(ARMS, CONTEXT))


class Ensemble:
    """Three small networks that disagree where little is known."""

    def __init__(self):
        self.members = [self.member(k) for k in range(3)]
        self.optimizer = tf.keras.optimizers.SGD(0.05)

    @staticmethod
    def member(seed):
        random = tf.random.Generator.from_seed(seed)
        w1 = tf.Variable(random.normal([CONTEXT, 32]) * 0.3)
        w2 = tf.Variable(random.normal([32, ARMS]) * 0.3)
        return w1, w2

    def predict(self, context):
        return tf.stack([tf.nn.relu(context @ w1) @ w2 for w1, w2 in self.members])

    def learn(self, context, arm, reward):
        weights = [w for member in self.members for w in member]
        with tf.GradientTape() as tape:
            guess = tf.gather(self.predict(context), arm, axis=2, batch_dims=0)[:, :, 0]
            loss = tf.reduce_mean((guess - reward) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss


ensemble, earned = Ensemble(), 0.0
for visit in range(800):
    context = tf.constant(rng.normal(size=(1, CONTEXT)).astype("float32"))
    scores = ensemble.predict(context)
    optimistic = tf.reduce_mean(scores, 0) + tf.math.reduce_std(scores, 0)
    arm = int(tf.argmax(optimistic[0]))
    reward = float(np.tanh(secret[arm] @ context.numpy()[0])) + rng.normal(0, 0.1)
    ensemble.learn(context, tf.constant([arm]), tf.constant(reward, tf.float32))
    earned += reward
    if visit % 200 == 199:
        print(f"{visit + 1} visits, mean reward {earned / (visit + 1):.3f}")
