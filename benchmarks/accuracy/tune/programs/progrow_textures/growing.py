"""One training phase per resolution."""

import keras
import tensorflow as tf


class Phase:
    """Non-saturating GAN with R1 at one level; the new layers are faded in."""

    def __init__(self, level, generator, critic, cfg):
        self.level, self.generator, self.critic, self.cfg = level, generator, critic, cfg
        self.alpha = tf.Variable(1.0 if level == 0 else 0.0, trainable=False)
        resolution = cfg["base"] * 2**level
        # one call each creates the layers that this level adds
        fake = generator(tf.zeros((1, cfg["latent"])), level=level, alpha=self.alpha)
        critic(fake, level=level, alpha=self.alpha)
        self.g_vars = generator.level_variables(level)
        self.c_vars = critic.level_variables(level)
        self.g_opt = keras.optimizers.Adam(cfg["lr"], beta_1=0.0, beta_2=0.99)
        self.c_opt = keras.optimizers.Adam(cfg["lr"], beta_1=0.0, beta_2=0.99)
        self.g_opt.build(self.g_vars)
        self.c_opt.build(self.c_vars)
        signature = [tf.TensorSpec((cfg["batch"], resolution, resolution, 1), tf.float32)]
        self.critic_step = tf.function(self._critic_step, input_signature=signature)
        self.generator_step = tf.function(self._generator_step, input_signature=[])

    def _latents(self):
        return tf.random.normal((self.cfg["batch"], self.cfg["latent"]))

    def _critic_step(self, real):
        fake = self.generator(self._latents(), level=self.level, alpha=self.alpha)
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(real)
                score_real = self.critic(real, level=self.level, alpha=self.alpha)
            slope = inner.gradient(score_real, real)
            r1 = tf.reduce_mean(tf.reduce_sum(tf.square(slope), axis=(1, 2, 3)))
            score_fake = self.critic(fake, level=self.level, alpha=self.alpha)
            loss = tf.reduce_mean(tf.nn.softplus(-score_real) + tf.nn.softplus(score_fake))
            total = loss + 0.5 * self.cfg["r1"] * r1
        grads = tape.gradient(total, self.c_vars)
        self.c_opt.apply_gradients(zip(grads, self.c_vars))
        return loss

    def _generator_step(self):
        with tf.GradientTape() as tape:
            fake = self.generator(self._latents(), level=self.level, alpha=self.alpha)
            loss = tf.reduce_mean(
                tf.nn.softplus(-self.critic(fake, level=self.level, alpha=self.alpha))
            )
        grads = tape.gradient(loss, self.g_vars)
        self.g_opt.apply_gradients(zip(grads, self.g_vars))
        return loss

    def run(self, dataset, steps, report):
        fade = 0 if self.level == 0 else steps // 2
        for step, real in enumerate(dataset.take(steps)):
            if step <= fade and fade:
                self.alpha.assign(step / fade)
            c_loss = self.critic_step(real)
            g_loss = self.generator_step()
            if (step + 1) % 40 == 0:
                report(step + 1, float(c_loss), float(g_loss))
