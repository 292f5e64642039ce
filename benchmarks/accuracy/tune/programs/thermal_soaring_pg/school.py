import numpy as np
import tensorflow as tf

from rollout import fly, discounted


class FlightSchool:
    def __init__(self, cfg, air, pilot):
        self.cfg, self.air, self.pilot = cfg, air, pilot
        self.optimizer = tf.keras.optimizers.Adam(cfg.lr)
        self.optimizer.build(pilot.trainable_variables)
        self._fly = tf.autograph.to_graph(fly)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def improve(self, horizon):
        cfg = self.cfg
        obs, act, rew = self._fly(self.air, self.pilot, cfg.gliders, horizon, False)
        ret = discounted(rew, cfg.gamma)
        flat_obs = tf.reshape(obs, [-1, self.air.n_obs])
        flat_act, flat_ret = tf.reshape(act, [-1]), tf.reshape(ret, [-1])
        with tf.GradientTape() as tape:
            logits, value = self.pilot(flat_obs)
            adv = tf.stop_gradient(flat_ret - value)
            adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
            nlp = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=flat_act, logits=logits)
            p = tf.nn.softmax(logits)
            ent = -tf.reduce_mean(tf.reduce_sum(p * tf.nn.log_softmax(logits), axis=1))
            loss = tf.reduce_mean(nlp * adv) + 0.02 * tf.reduce_mean((flat_ret - value) ** 2)
            loss -= cfg.entropy * ent
        tv = self.pilot.trainable_variables
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, tv), 1.0)
        self.optimizer.apply_gradients(zip(grads, tv))
        return tf.reduce_mean(tf.reduce_sum(rew, axis=0))

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def _exam(self, horizon):
        _, _, rew = self._fly(self.air, self.pilot, self.cfg.check_flights, horizon, True)
        return tf.reduce_mean(tf.reduce_sum(rew, axis=0))

    def examine(self, horizon):
        return float(self._exam(tf.constant(horizon)))

    def lesson(self, updates, horizon):
        h = tf.constant(horizon)
        gains = [self.improve(h) for _ in range(updates)]
        gains = np.array([g.numpy() for g in gains])
        return gains[-10:].mean(), gains[-10:].std()
