"""Actor-critic on a swarm of pole-balancing landers; episodes get longer as the policy learns."""

import time
import numpy as np
import tensorflow as tf

tf.random.set_seed(2)
rng = np.random.default_rng(2)
N_ENVS, MAX_T, GAMMA, BATCHES = 192, 300, 0.98, 110


class Swarm:
    """N cart-poles, stepped together."""

    def reset(self):
        self.s = rng.uniform(-0.05, 0.05, (N_ENVS, 4)).astype(np.float32)
        self.alive = np.ones(N_ENVS, bool)
        return self.s

    def step(self, a):
        x, xd, th, thd = self.s.T
        f = np.where(a == 1, 10.0, -10.0)
        ct, st = np.cos(th), np.sin(th)
        tmp = (f + 0.05 * thd**2 * st) / 1.1
        tha = (9.8 * st - ct * tmp) / (0.5 * (4 / 3 - 0.1 * ct**2 / 1.1))
        xa = tmp - 0.05 * tha * ct / 1.1
        self.s = np.stack(
            [x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1
        ).astype(np.float32)
        ok = (np.abs(self.s[:, 0]) < 2.4) & (np.abs(self.s[:, 2]) < 0.21)
        self.alive &= ok
        return self.s, self.alive.copy()


def mlp(n_out):
    return tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(256, activation="tanh"),
            tf.keras.layers.Dense(256, activation="tanh"),
            tf.keras.layers.Dense(n_out),
        ]
    )


actor, critic = mlp(2), mlp(1)
variables = actor.trainable_variables + critic.trainable_variables
opt = tf.keras.optimizers.Adam(3e-4)
opt.build(variables)


def act(weights, s):
    # plain numpy is plenty for a network this small
    h = np.tanh(s @ weights[0] + weights[1])
    h = np.tanh(h @ weights[2] + weights[3])
    z = h @ weights[4] + weights[5]
    p1 = 1.0 / (1.0 + np.exp(np.clip(z[:, 0] - z[:, 1], -30, 30)))
    return (rng.random(len(s)) < p1).astype(np.int32)


@tf.function(
    input_signature=[
        tf.TensorSpec([None, 4], tf.float32),
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([None], tf.float32),
    ]
)
def update(s, a, ret):
    with tf.GradientTape() as tape:
        v = critic(s)[:, 0]
        adv = tf.stop_gradient(ret - v)
        adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
        logp = tf.nn.log_softmax(actor(s))
        chosen = tf.gather(logp, a, axis=1, batch_dims=1)
        ent = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, 1))
        loss = -tf.reduce_mean(chosen * adv) + 0.02 * tf.reduce_mean((ret - v) ** 2) - 0.01 * ent
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


swarm = Swarm()
t0 = time.time()
for it in range(1, BATCHES + 1):
    S, A, M = [], [], []
    s = swarm.reset()
    w = actor.get_weights()
    alive = np.ones(N_ENVS, bool)
    for t in range(MAX_T):
        a = np.zeros(N_ENVS, np.int32)
        a[alive] = act(w, s[alive])
        S.append(s)
        A.append(a)
        M.append(alive)
        s, alive = swarm.step(a)
        if not alive.any():
            break
    S, A, M = np.array(S), np.array(A), np.array(M, np.float32)
    ret = np.zeros_like(M)
    acc = np.zeros(N_ENVS, np.float32)
    for t in reversed(range(len(M))):
        acc = M[t] * (1.0 + GAMMA * acc)
        ret[t] = acc
    keep = M.reshape(-1) > 0
    s_all, a_all, r_all = S.reshape(-1, 4)[keep], A.reshape(-1)[keep], ret.reshape(-1)[keep]
    for _ in range(1):
        order = rng.permutation(len(s_all))
        for i in range(0, len(order), 1024):
            b = order[i : i + 1024]
            loss = update(s_all[b], a_all[b], r_all[b])
    if it % 10 == 0:
        print(
            f"iter {it:3d}  mean length {M.sum(0).mean():6.1f}  samples {keep.sum():6d}  loss {float(loss):.3f}  {time.time() - t0:.1f}s"
        )
