import tensorflow as tf

from petro.base import TrainerBase


class ProxyTrainer(TrainerBase):
    def __init__(self, trunk, neck, proxies, lr):
        self.trunk, self.neck, self.proxies = trunk, neck, proxies
        super().__init__([trunk, neck, proxies], lr)

    def logits(self, x):
        return self.proxies(self.neck(self.trunk(x, training=False)))

    def turned(self, x):
        """The stage is turned and the lamp drifts: flips, transpose, gain."""
        n = tf.shape(x)[0]
        x = tf.cond(tf.random.uniform([]) < 0.5, lambda: tf.transpose(x, [0, 2, 1, 3]), lambda: x)
        x = tf.image.random_flip_up_down(tf.image.random_flip_left_right(x))
        return x * tf.random.uniform([n, 1, 1, 1], 0.8, 1.2)

    def objective(self, x, y):
        x = self.turned(x)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=self.logits(x))
        return tf.reduce_mean(ce)

    @tf.function
    def accuracy(self, x, y):
        hit = tf.argmax(self.logits(x), axis=1, output_type=tf.int32) == y
        return tf.reduce_mean(tf.cast(hit, tf.float32))
