import tensorflow as tf


class RectifiedFlow(tf.Module):
    def __init__(self, net, shape, batch):
        super().__init__()
        self.net, self.shape, self.batch = net, shape, batch
        self.tv = list(net.trainable_variables)
        self.m = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.tv]
        self.s = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.tv]
        self.ema = [tf.Variable(v, trainable=False) for v in self.tv]
        self.k = tf.Variable(0.0, trainable=False)

    @tf.function
    def update(self, data, lr):
        pick = tf.random.uniform([self.batch], 0, tf.shape(data)[0], tf.int32)
        x1 = tf.gather(data, pick)
        x0 = tf.random.normal([self.batch, *self.shape])
        t = tf.sigmoid(tf.random.normal([self.batch]))
        return self._descend(x0, x1, t, lr)

    @tf.function
    def _descend(self, x0, x1, t, lr):
        tt = t[:, None, None, None]
        with tf.GradientTape() as tape:
            v = self.net((1 - tt) * x0 + tt * x1, t)
            loss = tf.reduce_mean((v - (x1 - x0)) ** 2)
        grads = tape.gradient(loss, self.tv)
        self.k.assign_add(1.0)
        fix = tf.sqrt(1 - 0.99**self.k) / (1 - 0.9**self.k)
        for p, g, m, s, e in zip(self.tv, grads, self.m, self.s, self.ema):
            m.assign(0.9 * m + 0.1 * g)
            s.assign(0.99 * s + 0.01 * g * g)
            p.assign_sub(lr * fix * m / (tf.sqrt(s) + 1e-7))
            e.assign(0.98 * e + 0.02 * p)
        return loss

    @tf.function
    def _euler(self, x, steps):
        dt = 1.0 / tf.cast(steps, tf.float32)
        for i in tf.range(steps):
            t = tf.fill([tf.shape(x)[0]], (tf.cast(i, tf.float32) + 0.5) * dt)
            x = x + dt * self.net(x, t)
        return x

    def sample(self, n=16, steps=12):
        live = [tf.identity(v) for v in self.tv]
        for v, e in zip(self.tv, self.ema):
            v.assign(e)
        x = self._euler(tf.random.normal([n, *self.shape]), tf.constant(steps))
        for v, l in zip(self.tv, live):
            v.assign(l)
        return x
