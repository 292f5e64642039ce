import time
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

flags = dict(
    k=12,
    dim=16,
    n=60000,
    batch=10000,
    iters=390,
    kappa=0.6,  # step-size exponent of stepwise EM
    reg=1e-3,
    report=30,
)


def make_points(n, k, d, rng):
    centers = rng.uniform(-6, 6, size=(k, d))
    scales = rng.uniform(0.4, 1.4, size=(k, d))
    w = rng.dirichlet(np.ones(k) * 4)
    z = rng.choice(k, size=n, p=w)
    return (centers[z] + scales[z] * rng.randn(n, d)).astype(np.float32), z


class StepwiseGMM(object):
    """Diagonal Gaussian mixture, online EM (Cappe & Moulines / Liang & Klein)."""

    def __init__(self, k, d, init, reg):
        self.k, self.d, self.reg = k, d, reg
        self.x = tf.placeholder(tf.float32, [None, d], name="x")
        with tf.variable_scope("gmm"):
            self.mu = tf.get_variable("mu", initializer=init)
            self.var = tf.get_variable("var", initializer=np.full((k, d), 4.0, np.float32))
            self.logpi = tf.get_variable("logpi", initializer=np.full((k,), -np.log(k), np.float32))
        self._e_step()
        # running sufficient statistics live on the host
        self.s0 = np.ones(k) / k
        self.s1 = init.astype(np.float64) / k
        self.s2 = (init.astype(np.float64) ** 2 + 4.0) / k

    def _e_step(self):
        diff2 = tf.square(self.x[:, None, :] - self.mu[None])
        maha = tf.reduce_sum(diff2 / self.var[None], -1)
        logdet = tf.reduce_sum(tf.log(self.var), -1)
        logp = self.logpi - 0.5 * (maha + logdet + self.d * np.log(2 * np.pi))
        norm = tf.reduce_logsumexp(logp, axis=1, keepdims=True)
        resp = tf.exp(logp - norm)
        m = tf.cast(tf.shape(self.x)[0], tf.float32)
        self.loglik = tf.reduce_mean(norm)
        self.t0 = tf.reduce_sum(resp, 0) / m
        self.t1 = tf.matmul(resp, self.x, transpose_a=True) / m
        self.t2 = tf.matmul(resp, tf.square(self.x), transpose_a=True) / m
        self.label = tf.argmax(logp, 1)

    def m_step(self, sess, stats, rho):
        t0, t1, t2 = stats
        self.s0 = (1 - rho) * self.s0 + rho * t0
        self.s1 = (1 - rho) * self.s1 + rho * t1
        self.s2 = (1 - rho) * self.s2 + rho * t2
        mu = self.s1 / (self.s0[:, None] + 1e-9)
        var = self.s2 / (self.s0[:, None] + 1e-9) - mu**2 + self.reg
        var = np.maximum(var, self.reg)
        pi = self.s0 / self.s0.sum()
        sess.run(
            [
                self.mu.assign(mu.astype(np.float32)),
                self.var.assign(var.astype(np.float32)),
                self.logpi.assign(np.log(pi + 1e-9).astype(np.float32)),
            ]
        )


def purity(z, lab, k):
    hit = 0
    for c in range(k):
        m = lab == c
        if m.any():
            hit += np.bincount(z[m]).max()
    return hit / float(len(z))


def main():
    rng = np.random.RandomState(3)
    X, z = make_points(flags["n"], flags["k"], flags["dim"], rng)
    init = X[rng.choice(len(X), flags["k"], replace=False)]
    model = StepwiseGMM(flags["k"], flags["dim"], init, flags["reg"])

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tic, avg = time.time(), []
        for it in range(1, flags["iters"] + 1):
            xb = X[rng.randint(0, len(X), flags["batch"])]
            ll, t0, t1, t2 = sess.run(
                [model.loglik, model.t0, model.t1, model.t2], feed_dict={model.x: xb}
            )
            rho = (it + 2.0) ** (-flags["kappa"])
            model.m_step(sess, (t0, t1, t2), rho)
            avg.append(ll)
            if it % flags["report"] == 0:
                print(
                    "iter %4d  loglik/pt %.4f  rho %.3f  (%.1f s)"
                    % (it, np.mean(avg[-flags["report"] :]), rho, time.time() - tic)
                )
        lab = sess.run(model.label, {model.x: X[:10000]})
        print("purity on 10k points: %.3f" % purity(z[:10000], lab, flags["k"]))


if __name__ == "__main__":
    main()
