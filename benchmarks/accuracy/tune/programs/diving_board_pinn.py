"""Physics-informed net for the deflection of a tapered diving board.

Euler-Bernoulli: d2/dx2 ( EI(x) d2w/dx2 ) = q(x, p), clamped at x = 0, free at
x = 1, for a whole range of diver positions p at once.  The collocation points
are moved towards the large residuals every hundred steps.
"""

import numpy as np
import tensorflow as tf

tf.random.set_seed(2)
rng = np.random.default_rng(2)

POINTS = 2500
POOL = 9000
STEPS = 330
REFRESH = 110
WIDTH = 64
DEPTH = 3


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        sizes = [2] + [WIDTH] * DEPTH + [1]
        init = tf.initializers.GlorotNormal(seed=3)
        self.w = [tf.Variable(init((a, b))) for a, b in zip(sizes, sizes[1:])]
        self.b = [tf.Variable(tf.zeros(b)) for b in sizes[1:]]

    def __call__(self, x, p):
        h = tf.concat([x, p], axis=1)
        for w, b in zip(self.w[:-1], self.b[:-1]):
            h = tf.tanh(h @ w + b)
        return x**2 * (h @ self.w[-1] + self.b[-1])


net = Net()
opt = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(2e-3, STEPS))


def stiffness(x):
    return 1.2 - 0.7 * x


def load(x, p):
    return 2.0 * tf.exp(-(((x - p) / 0.12) ** 2))


def board(x, p):
    """Moment, shear and load side of the equation at (x, p)."""
    with tf.GradientTape() as t4:
        t4.watch(x)
        with tf.GradientTape() as t3:
            t3.watch(x)
            with tf.GradientTape() as t2:
                t2.watch(x)
                with tf.GradientTape() as t1:
                    t1.watch(x)
                    w = net(x, p)
                w_x = t1.gradient(w, x)
            w_xx = t2.gradient(w_x, x)
            moment = stiffness(x) * w_xx
        shear = t3.gradient(moment, x)
    return moment, shear, t4.gradient(shear, x)


@tf.function(input_signature=[tf.TensorSpec([None, 1]), tf.TensorSpec([None, 1])])
def residual(x, p):
    return tf.abs(board(x, p)[2] - load(x, p))


@tf.function(input_signature=[tf.TensorSpec([None, 1]), tf.TensorSpec([None, 1])])
def train_step(x, p):
    n_edge = 128
    edge = tf.ones((n_edge, 1))
    with tf.GradientTape() as tape:
        moment, shear, fourth = board(tf.concat([x, edge], 0), tf.concat([p, p[:n_edge]], 0))
        inner = fourth[:-n_edge] - load(x, p)
        loss = (
            tf.reduce_mean(inner**2)
            + 10.0 * tf.reduce_mean(moment[-n_edge:] ** 2)
            + 10.0 * tf.reduce_mean(shear[-n_edge:] ** 2)
        )
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


def draw(n):
    return (
        tf.constant(rng.uniform(0, 1, (n, 1)), tf.float32),
        tf.constant(rng.uniform(0.4, 1, (n, 1)), tf.float32),
    )


x, p = draw(POINTS)
for step in range(1, STEPS + 1):
    loss = train_step(x, p)
    if step % 30 == 0:
        print(f"step {step:4d}  loss {float(loss):.5f}")
    if step % REFRESH == 0 and step < STEPS:
        px, pp = draw(POOL)
        r = residual(px, pp).numpy()[:, 0]
        chosen = rng.choice(POOL, POINTS, replace=False, p=r / r.sum())
        x, p = tf.gather(px, chosen), tf.gather(pp, chosen)

tip = net(tf.ones((3, 1)), tf.constant([[0.5], [0.75], [1.0]]))
print("tip deflection:", tip.numpy().ravel())
