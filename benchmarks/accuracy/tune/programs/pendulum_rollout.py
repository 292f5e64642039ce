"""Learning the dynamics of a driven double pendulum with rollouts of growing horizon."""

import time

import numpy as np
import tensorflow as tf

DT = 0.02
CURRICULUM = [(4, 120), (8, 100), (16, 90), (32, 120)]
BATCH = 96
N_TRAJ, TRAJ_LEN = 300, 160
WIDTH = 256


def derivatives(s, torque):
    th1, th2, w1, w2 = s.T
    d = th1 - th2
    den = 3 - np.cos(2 * d)
    a1 = (
        (
            -3 * 9.8 * np.sin(th1)
            - 9.8 * np.sin(th1 - 2 * th2)
            - 2 * np.sin(d) * (w2**2 + w1**2 * np.cos(d))
        )
        / den
        + torque
        - 0.1 * w1
    )
    a2 = (2 * np.sin(d) * (2 * w1**2 + 2 * 9.8 * np.cos(th1) + w2**2 * np.cos(d))) / den - 0.1 * w2
    return np.stack([w1, w2, a1, a2], 1)


def simulate(rng):
    s = np.concatenate([rng.uniform(-1.2, 1.2, (N_TRAJ, 2)), rng.normal(0, 0.5, (N_TRAJ, 2))], 1)
    freq, amp = rng.uniform(0.5, 2.5, N_TRAJ), rng.uniform(0, 3, N_TRAJ)
    states, torques = [s], []
    for t in range(TRAJ_LEN):
        u = amp * np.sin(2 * np.pi * freq * t * DT)
        k1 = derivatives(s, u)
        k2 = derivatives(s + 0.5 * DT * k1, u)
        k3 = derivatives(s + 0.5 * DT * k2, u)
        k4 = derivatives(s + DT * k3, u)
        s = s + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(s)
        torques.append(u)
    return np.stack(states, 1).astype("float32"), np.stack(torques, 1).astype("float32")[..., None]


class DynamicsNet(tf.Module):
    def __init__(self, width, seed=0):
        super().__init__()
        init = tf.keras.initializers.GlorotUniform(seed)
        sizes = [7, width, width, width, 4]
        self.weights = [
            tf.Variable(init((a, b)), name=f"w{i}")
            for i, (a, b) in enumerate(zip(sizes, sizes[1:]))
        ]
        self.biases = [tf.Variable(tf.zeros(b), name=f"b{i}") for i, b in enumerate(sizes[1:])]

    def __call__(self, state, torque):
        angle, speed = state[:, :2], state[:, 2:]
        h = tf.concat([tf.sin(angle), tf.cos(angle), speed / 5.0, torque / 3.0], axis=1)
        for w, b in zip(self.weights[:-1], self.biases[:-1]):
            h = tf.nn.silu(tf.matmul(h, w) + b)
        return state + DT * 5.0 * (tf.matmul(h, self.weights[-1]) + self.biases[-1])


def windows(states, torques, horizon, steps, rng):
    for _ in range(steps):
        traj = rng.integers(0, N_TRAJ - 30, BATCH)
        start = rng.integers(0, TRAJ_LEN - horizon, BATCH)
        pos = start[:, None] + np.arange(horizon + 1)
        yield (
            tf.constant(states[traj[:, None], pos]),
            tf.constant(torques[traj[:, None], pos[:, :-1]]),
        )


def main():
    rng = np.random.default_rng(4)
    states, torques = simulate(rng)
    states += rng.normal(0, 0.005, states.shape).astype("float32")
    net = DynamicsNet(WIDTH)
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(net.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec((None, None, 4)), tf.TensorSpec((None, None, 1))])
    def train_step(path, control):
        horizon = tf.shape(control)[1]
        with tf.GradientTape() as tape:
            state, loss = path[:, 0], 0.0
            for k in tf.range(horizon):
                tf.autograph.experimental.set_loop_options(
                    shape_invariants=[(state, tf.TensorShape([None, 4]))]
                )
                for _ in range(2):
                    state = 0.5 * (state + net(state, control[:, k]))
                state = net(state, control[:, k])
                loss += tf.reduce_mean(tf.square(state - path[:, k + 1]))
            loss /= tf.cast(horizon, tf.float32)
        grads = tape.gradient(loss, net.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
        return loss, norm

    @tf.function
    def free_run(state, controls):
        out = tf.TensorArray(tf.float32, 64)
        for k in tf.range(64):
            for _ in range(2):
                state = 0.5 * (state + net(state, controls[:, k]))
            state = net(state, controls[:, k])
            out = out.write(k, state)
        return tf.transpose(out.stack(), (1, 0, 2))

    started, step = time.time(), 0
    for horizon, steps in CURRICULUM:
        optimizer.learning_rate.assign(1e-3 * (4 / horizon) ** 0.5)
        for path, control in windows(states, torques, horizon, steps, rng):
            loss, norm = train_step(path, control)
            step += 1
            if step % 30 == 0:
                print(
                    "step %4d horizon %2d loss %.5f |g| %.3f"
                    % (step, horizon, float(loss), float(norm))
                )
        test_path = free_run(states[-30:, 0], torques[-30:, :64])
        rmse = float(tf.sqrt(tf.reduce_mean(tf.square(test_path - states[-30:, 1:65]))))
        print("horizon %d done, 64-step rmse %.4f, %.1f s" % (horizon, rmse, time.time() - started))
    print("training took %.1f s" % (time.time() - started))


if __name__ == "__main__":
    main()
