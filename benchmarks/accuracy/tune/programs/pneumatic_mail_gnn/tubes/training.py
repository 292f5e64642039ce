import tensorflow as tf

WEIGHTS = {"jam": (1.0, 0.0), "delay": (0.0, 1.0), "both": (1.0, 1.0)}


class AlternatingTrainer:
    def __init__(self, model, conf):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(conf.lr)
        self.optimizer.build(model.trainable_variables)
        self.mix = tf.Variable([0.0, 0.0], trainable=False)

    @tf.function(jit_compile=True)
    def step(self, x, jam, delay):
        with tf.GradientTape() as tape:
            j, d = self.model(x, training=True)
            lj = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=jam, logits=j))
            ld = tf.reduce_mean((d - delay) ** 2)
            loss = self.mix[0] * lj + self.mix[1] * ld
        tv = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, tv), tv))
        return loss

    @tf.function
    def _test(self, x, jam, delay):
        j, d = self.model(x)
        acc = tf.reduce_mean(tf.cast((j > 0) == (jam > 0.5), tf.float32))
        return acc, tf.reduce_mean(tf.abs(d - delay))

    def test(self, *held):
        return tuple(float(v) for v in self._test(*held))

    def run_epoch(self, ds, phase):
        self.mix.assign(WEIGHTS[phase])
        total, n = 0.0, 0
        for batch in ds:
            total += self.step(*batch)
            n += 1
        return float(total) / n
