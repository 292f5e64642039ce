# REINFORCE with baseline: thermal soaring; horizon is lengthened as the policy improves
import time
import numpy as np
import tensorflow as tf

tf.random.set_seed(4)
N = 2048  # gliders in parallel
OBS, ACT = 6, 3
GAMMA = 0.99

policy = tf.keras.Sequential(
    [
        tf.keras.Input((OBS,)),
        tf.keras.layers.Dense(128, activation="tanh"),
        tf.keras.layers.Dense(128, activation="tanh"),
        tf.keras.layers.Dense(ACT),
    ]
)
value = tf.keras.Sequential(
    [
        tf.keras.Input((OBS,)),
        tf.keras.layers.Dense(128, activation="tanh"),
        tf.keras.layers.Dense(128, activation="tanh"),
        tf.keras.layers.Dense(1),
    ]
)
p_opt = tf.keras.optimizers.Adam(1e-3)
v_opt = tf.keras.optimizers.Adam(2e-3)
p_opt.build(policy.trainable_variables)
v_opt.build(value.trainable_variables)


def observe(st):
    x, y, hd, alt, cx, cy = tf.unstack(st, axis=1)
    return tf.stack(
        [cx - x, cy - y, tf.cos(hd), tf.sin(hd), alt, tf.exp(-((x - cx) ** 2 + (y - cy) ** 2))], 1
    )


def advance(st, a):
    x, y, hd, alt, cx, cy = tf.unstack(st, axis=1)
    hd = hd + 0.25 * (tf.cast(a, tf.float32) - 1.0)
    x = x + 0.1 * tf.cos(hd)
    y = y + 0.1 * tf.sin(hd)
    lift = 0.12 * tf.exp(-((x - cx) ** 2 + (y - cy) ** 2)) - 0.04
    return tf.stack([x, y, hd, alt + lift, cx, cy], 1), lift * 10.0


@tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
def fly(horizon):
    st = tf.random.normal([N, 6]) * tf.constant([1.0, 1.0, 2.0, 0.1, 0.5, 0.5])
    O = tf.TensorArray(tf.float32, size=horizon, element_shape=[N, OBS])
    A = tf.TensorArray(tf.int32, size=horizon, element_shape=[N])
    R = tf.TensorArray(tf.float32, size=horizon, element_shape=[N])
    for t in tf.range(horizon):
        o = observe(st)
        a = tf.random.categorical(policy(o), 1, dtype=tf.int32)[:, 0]
        st, r = advance(st, a)
        O, A, R = O.write(t, o), A.write(t, a), R.write(t, r)
    rew = R.stack()
    ret = tf.scan(lambda acc, r: r + GAMMA * acc, rew, initializer=tf.zeros([N]), reverse=True)
    return (
        tf.reshape(O.stack(), [-1, OBS]),
        tf.reshape(A.stack(), [-1]),
        tf.reshape(ret, [-1]),
        tf.reduce_mean(tf.reduce_sum(rew, 0)),
    )


@tf.function(
    input_signature=[
        tf.TensorSpec([None, OBS]),
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([None]),
    ]
)
def improve(o, a, ret):
    with tf.GradientTape() as vt:
        v = value(o)[:, 0]
        v_loss = tf.reduce_mean((v - ret) ** 2)
    adv = ret - tf.stop_gradient(v)
    adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
    with tf.GradientTape() as pt:
        logp = tf.nn.log_softmax(policy(o))
        chosen = tf.reduce_sum(logp * tf.one_hot(a, ACT), 1)
        ent = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, 1))
        p_loss = -tf.reduce_mean(chosen * adv) - 0.01 * ent
    v_opt.apply_gradients(
        zip(vt.gradient(v_loss, value.trainable_variables), value.trainable_variables)
    )
    p_opt.apply_gradients(
        zip(pt.gradient(p_loss, policy.trainable_variables), policy.trainable_variables)
    )
    return v_loss, ent


t0 = time.time()
horizon = 10
for it in range(1, 101):
    o, a, ret, score = fly(tf.constant(horizon))
    vl, ent = improve(o, a, ret)
    if it % 10 == 0:
        print(
            f"iter {it:3d} horizon {horizon:3d} climb {score.numpy():7.3f} vloss {vl.numpy():.3f} "
            f"entropy {ent.numpy():.3f} {time.time() - t0:.1f}s",
            flush=True,
        )
        horizon += 6
