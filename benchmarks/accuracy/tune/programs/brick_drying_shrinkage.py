"""Predict linear shrinkage of extruded bricks from dryer settings.

Compares nothing fancy: one MLP, trained with a small Kronecker-factored
preconditioner that we use in the lab in place of Adam.
"""

import numpy as np
import keras
import tensorflow as tf
from keras import layers


class KronOptimizer(keras.optimizers.Optimizer):
    """Momentum SGD whose matrix gradients are whitened from both sides.

    Statistics L and R are running averages of G G^T and G^T G. Their inverse
    fourth roots are refreshed every `refresh_every` updates.
    """

    def __init__(
        self,
        learning_rate=0.01,
        momentum=0.9,
        decay=0.97,
        damping=1e-4,
        refresh_every=25,
        name="kron",
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.momentum = momentum
        self.decay = decay
        self.damping = damping
        self.refresh_every = refresh_every

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.velocity, self.stats, self.roots = [], [], []
        for var in variables:
            self.velocity.append(self.add_variable_from_reference(var, name="velocity"))
            if len(var.shape) == 2:
                pair_s, pair_r = [], []
                for side, dim in zip("lr", var.shape):
                    pair_s.append(
                        self.add_variable((dim, dim), initializer="zeros", name=f"stat_{side}")
                    )
                    pair_r.append(
                        self.add_variable((dim, dim), initializer="zeros", name=f"root_{side}")
                    )
                self.stats.append(pair_s)
                self.roots.append(pair_r)
            else:
                self.stats.append(None)
                self.roots.append(None)

    def _inverse_fourth_root(self, stat):
        dim = tf.shape(stat)[0]
        trace = tf.linalg.trace(stat) / tf.cast(dim, tf.float32)
        ridge = self.damping * trace + 1e-8
        values, vectors = tf.linalg.eigh(stat + ridge * tf.eye(dim))
        values = tf.maximum(values, ridge)
        return tf.matmul(vectors * tf.pow(values, -0.25), vectors, transpose_b=True)

    def _root_for(self, stat, root, due):
        stat = tf.convert_to_tensor(stat)
        root = tf.convert_to_tensor(root)
        return tf.where(due, self._inverse_fourth_root(stat), root)

    def update_step(self, gradient, variable, learning_rate):
        idx = self._get_variable_index(variable)
        lr = tf.cast(learning_rate, variable.dtype)
        direction = gradient
        if self.stats[idx] is not None:
            left, right = self.stats[idx]
            left.assign(
                self.decay * left
                + (1 - self.decay) * tf.matmul(gradient, gradient, transpose_b=True)
            )
            right.assign(
                self.decay * right
                + (1 - self.decay) * tf.matmul(gradient, gradient, transpose_a=True)
            )
            due = tf.equal(tf.cast(self.iterations, tf.int32) % self.refresh_every, 0)
            for stat, root in zip(self.stats[idx], self.roots[idx]):
                root.assign(self._root_for(stat, root, due))
            direction = tf.matmul(
                tf.matmul(tf.convert_to_tensor(self.roots[idx][0]), gradient),
                tf.convert_to_tensor(self.roots[idx][1]),
            )
            # graft the raw gradient's length on to the whitened direction
            direction *= tf.norm(gradient) / (tf.norm(direction) + 1e-12)
        v = self.velocity[idx]
        v.assign(self.momentum * v + direction)
        variable.assign(variable - lr * v)

    def get_config(self):
        cfg = super().get_config()
        cfg.update(
            momentum=self.momentum,
            decay=self.decay,
            damping=self.damping,
            refresh_every=self.refresh_every,
        )
        return cfg


def dryer_runs(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 24)).astype("float32")
    moisture, clay, air, temp = x[:, 0], x[:, 1], x[:, 2], x[:, 3]
    shrink = (
        3.0 * moisture
        + 1.5 * clay * moisture
        - 0.8 * np.sin(3 * air)
        + 0.6 * temp * air
        + 0.4 * np.tanh(4 * x[:, 4]) * clay
    )
    shrink += 0.3 * (x[:, 5:] ** 2).sum(1) + rng.normal(0, 0.05, n)
    return x, shrink.astype("float32")[:, None]


def build_mlp(width=224):
    return keras.Sequential(
        [
            keras.Input((24,)),
            layers.Dense(width, activation="gelu"),
            layers.Dense(width, activation="gelu"),
            layers.Dense(width // 2, activation="gelu"),
            layers.Dense(1),
        ]
    )


def main():
    keras.utils.set_random_seed(0)
    x, y = dryer_runs(12_800, 1)
    xv, yv = dryer_runs(2_000, 2)
    mean, std = y.mean(), y.std()
    model = build_mlp()
    model.compile(KronOptimizer(0.01, refresh_every=25), loss="mse", metrics=["mae"])
    model.fit(
        x,
        (y - mean) / std,
        batch_size=256,
        epochs=20,
        validation_data=(xv, (yv - mean) / std),
        verbose=2,
    )
    pred = model.predict(xv, batch_size=500, verbose=0) * std + mean
    print(
        "shrinkage RMSE %.4f (spread of the target %.4f)"
        % (np.sqrt(((pred - yv) ** 2).mean()), yv.std())
    )


if __name__ == "__main__":
    main()
