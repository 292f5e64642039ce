# PINN for viscous Burgers, with residual-based refinement of the collocation set
#   u_t + u u_x = nu u_xx,   u(0,x) = -sin(pi x),  u(t,+-1) = 0
import time
import numpy as np
import tensorflow as tf

np.random.seed(1234)
tf.random.set_seed(1234)
NU = 0.01 / np.pi


class PINN(tf.Module):
    def __init__(self, sizes):
        super().__init__()
        self.W, self.b = [], []
        for i, o in zip(sizes[:-1], sizes[1:]):
            std = np.sqrt(2.0 / (i + o))
            self.W.append(tf.Variable(tf.random.truncated_normal([i, o], stddev=std)))
            self.b.append(tf.Variable(tf.zeros([o])))

    def u(self, t, x):
        h = tf.concat([2 * t - 1, x], 1)
        for W, b in zip(self.W[:-1], self.b[:-1]):
            h = tf.tanh(h @ W + b)
        return h @ self.W[-1] + self.b[-1]

    def residual(self, t, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as inner:
                inner.watch([t, x])
                u = self.u(t, x)
            u_x = inner.gradient(u, x)
            u_t = inner.gradient(u, t)
        u_xx = outer.gradient(u_x, x)
        return u_t + u * u_x - NU * u_xx


def lhs(n):
    grid = (np.arange(n)[:, None] + np.random.rand(n, 2)) / n
    for j in range(2):
        np.random.shuffle(grid[:, j])
    return grid.astype("float32") * np.array([1.0, 2.0], "float32") - np.array(
        [0.0, 1.0], "float32"
    )


class Solver:
    def __init__(self, n_f=1000, n_b=200):
        self.net = PINN([2, 40, 40, 40, 40, 1])
        self.opt = tf.keras.optimizers.Adam(
            tf.keras.optimizers.schedules.ExponentialDecay(2e-3, 400, 0.8)
        )
        self.colloc = lhs(n_f)
        x0 = np.random.uniform(-1, 1, (n_b, 1))
        tb = np.random.rand(n_b, 1)
        side = np.sign(np.random.randn(n_b, 1))
        self.tb = tf.constant(np.vstack([0 * x0, tb]), tf.float32)
        self.xb = tf.constant(np.vstack([x0, side]), tf.float32)
        self.ub = tf.constant(np.vstack([-np.sin(np.pi * x0), 0 * tb]), tf.float32)

    @tf.function(reduce_retracing=True)
    def update(self, t, x):
        with tf.GradientTape() as tape:
            f = self.net.residual(t, x)
            lf = tf.reduce_mean(f**2)
            lb = tf.reduce_mean((self.net.u(self.tb, self.xb) - self.ub) ** 2)
            loss = lf + 5.0 * lb
        v = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return lf, lb

    @tf.function
    def abs_residual(self, t, x):
        return tf.abs(self.net.residual(t, x))

    def refine(self, add):
        pool = lhs(4000)
        r = self.abs_residual(pool[:, :1], pool[:, 1:]).numpy()[:, 0]
        worst = np.argsort(r)[-add:]
        self.colloc = np.vstack([self.colloc, pool[worst]])
        return r.mean(), r.max()

    def train(self, rounds, iters, add):
        t0, it = time.time(), 0
        for r in range(rounds):
            pts = tf.constant(self.colloc)
            t, x = pts[:, :1], pts[:, 1:]
            for _ in range(iters):
                lf, lb = self.update(t, x)
                it += 1
                if it % 200 == 0:
                    print(
                        "It: %d, Loss_f: %.3e, Loss_b: %.3e, N_f: %d, Time: %.2f"
                        % (it, lf, lb, len(self.colloc), time.time() - t0)
                    )
            if r < rounds - 1:
                m, mx = self.refine(add)
                print(
                    "  refine: mean |f| %.3e  max |f| %.3e -> N_f = %d" % (m, mx, len(self.colloc))
                )


if __name__ == "__main__":
    solver = Solver()
    solver.train(rounds=5, iters=400, add=400)
    xs = np.linspace(-1, 1, 11, dtype="float32")[:, None]
    print("u(0.5, x):", np.round(solver.net.u(np.full_like(xs, 0.5), xs).numpy()[:, 0], 3))
