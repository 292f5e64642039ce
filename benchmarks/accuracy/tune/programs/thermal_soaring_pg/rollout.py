import tensorflow as tf


def fly(air, pilot, n, horizon, greedy):
    """One flight of every glider; horizon may be a tensor."""
    pos, heading, last = air.launch(n)
    obs_ta = tf.TensorArray(tf.float32, size=horizon, element_shape=[None, air.n_obs])
    act_ta = tf.TensorArray(tf.int32, size=horizon, element_shape=[None])
    rew_ta = tf.TensorArray(tf.float32, size=horizon, element_shape=[None])
    for t in tf.range(horizon):
        obs = air.observe(pos, heading, last)
        logits, _ = pilot(obs)
        if greedy:
            action = tf.argmax(logits, axis=1, output_type=tf.int32)
        else:
            action = tf.random.categorical(logits, 1, dtype=tf.int32)[:, 0]
        pos, heading, last = air.advance(pos, heading, action)
        obs_ta = obs_ta.write(t, obs)
        act_ta = act_ta.write(t, action)
        rew_ta = rew_ta.write(t, last)
    return obs_ta.stack(), act_ta.stack(), rew_ta.stack()


def discounted(rewards, gamma):
    return tf.scan(lambda acc, r: r + gamma * acc, rewards, reverse=True)
