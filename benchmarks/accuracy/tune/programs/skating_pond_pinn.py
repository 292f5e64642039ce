# Physics-informed net for ice temperature in a skating pond, T_t = kappa(x) * T_xx + s(t)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)

COLLOCATION = 160
BOUNDARY = 64
STEPS = 800
DEPTH = 0.3
rng = np.random.default_rng(3)


class Fourier(tf.keras.layers.Layer):
    def __init__(self, n, scale=2.0):
        super().__init__()
        self.n, self.scale = n, scale

    def build(self, shape):
        self.b = self.add_weight(
            shape=(shape[-1], self.n),
            trainable=False,
            initializer=tf.keras.initializers.RandomNormal(stddev=self.scale),
        )

    def call(self, z):
        p = z @ self.b
        return tf.concat([tf.sin(p), tf.cos(p)], axis=-1)


def make_net(width=48, depth=3):
    net = tf.keras.Sequential([tf.keras.Input((2,)), Fourier(24)])
    for _ in range(depth):
        net.add(tf.keras.layers.Dense(width, activation="tanh"))
    net.add(tf.keras.layers.Dense(1))
    return net


def conductivity(x):
    return 0.4 + 0.2 * tf.sigmoid(20.0 * (x - 0.5))


def forcing(t):
    return 0.5 * tf.sin(6.2832 * t)


class PondSolver:
    def __init__(self):
        self.net = make_net()
        self.optimizer = tf.keras.optimizers.Adam(
            tf.keras.optimizers.schedules.CosineDecay(2e-3, STEPS)
        )
        self.log_noise = tf.Variable(0.0)

    def temperature(self, x, t):
        return self.net(tf.stack([x, t], axis=1))[:, 0]

    def derivatives(self, x, t):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as inner:
                inner.watch([x, t])
                u = self.temperature(x, t)
            u_x = tf.linalg.diag_part(inner.jacobian(u, x))
            u_t = tf.linalg.diag_part(inner.jacobian(u, t))
        u_xx = outer.gradient(u_x, x)
        return u, u_t, u_xx

    def residual_loss(self, x, t):
        _, u_t, u_xx = self.derivatives(x, t)
        r = u_t - conductivity(x) * u_xx - forcing(t)
        return tf.reduce_mean(tf.square(r))

    def edge_loss(self, t, x0):
        surface = self.temperature(tf.zeros_like(t), t) - tf.cos(3.1416 * t)
        bed = self.temperature(tf.ones_like(t), t)
        start = self.temperature(x0, tf.zeros_like(x0)) - (1.0 - x0)
        return sum(tf.reduce_mean(tf.square(e)) for e in (surface, bed, start))

    @tf.function
    def step(self, x, t, tb, x0):
        with tf.GradientTape() as tape:
            physics = self.residual_loss(x, t)
            edges = self.edge_loss(tb, x0)
            loss = physics + 10.0 * edges
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 5.0)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss, physics, edges, norm


def halton(n, base, start):
    out = np.zeros(n, "float32")
    for k in range(n):
        f, i = 1.0, k + start
        while i > 0:
            f /= base
            out[k] += f * (i % base)
            i //= base
    return out


def batches():
    x_pool, t_pool = halton(20000, 2, 20), halton(20000, 3, 20)
    while True:
        pick = rng.integers(0, len(x_pool), COLLOCATION)
        tb = rng.random(BOUNDARY).astype("float32")
        x0 = rng.random(BOUNDARY).astype("float32")
        yield tuple(tf.constant(a) for a in (x_pool[pick], t_pool[pick], tb, x0))


def main():
    solver = PondSolver()
    stream = batches()
    for step in range(1, STEPS + 1):
        loss, physics, edges, norm = solver.step(*next(stream))
        if step % 50 == 0:
            print(
                f"{step:4d} loss {float(loss):.4f} physics {float(physics):.4f} "
                f"edges {float(edges):.4f} |g| {float(norm):.2f}",
                flush=True,
            )
    xs = tf.linspace(0.0, 1.0, 6)
    profile = solver.temperature(xs, tf.fill([6], 0.75)).numpy()
    for d, u in zip(np.linspace(0, DEPTH, 6), profile):
        print(f"depth {d:.2f} m  T {-8 * u:.2f} C")


if __name__ == "__main__":
    main()
