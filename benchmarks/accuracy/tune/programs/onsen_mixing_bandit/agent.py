import tensorflow as tf


class GuestNet(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.table = tf.keras.layers.Embedding(cfg.n_guests, cfg.embed)
        self.d1 = tf.keras.layers.Dense(cfg.hidden, activation="swish")
        self.d2 = tf.keras.layers.Dense(cfg.hidden, activation="swish")
        self.out = tf.keras.layers.Dense(cfg.heads * cfg.n_valves)
        self.shape_out = (-1, cfg.heads, cfg.n_valves)

    def call(self, inputs):
        ids, ctx = inputs
        h = tf.concat([self.table(ids), ctx], axis=1)
        h = self.d2(self.d1(h))
        return tf.reshape(self.out(h), self.shape_out)


class ThompsonAgent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = GuestNet(cfg)
        self.net((tf.zeros([1], tf.int32), tf.zeros([1, cfg.n_context])))
        self.optimizer = tf.keras.optimizers.Adagrad(cfg.lr * 20)
        self.optimizer.build(self.net.trainable_variables)

    @tf.function(reduce_retracing=True)
    def act(self, ids, ctx):
        scores = self.net((ids, ctx))
        head = tf.random.uniform([tf.shape(ids)[0]], 0, self.cfg.heads, tf.int32)
        mine = tf.gather(scores, head, axis=1, batch_dims=1)
        return tf.argmax(mine, axis=1, output_type=tf.int32)

    @tf.function(reduce_retracing=True)
    def learn(self, ids, ctx, valve, reward):
        n = tf.shape(ids)[0]
        mask = tf.cast(tf.random.uniform([n, self.cfg.heads]) < 0.6, tf.float32)
        with tf.GradientTape() as tape:
            scores = self.net((ids, ctx))
            told = tf.gather(tf.transpose(scores, [0, 2, 1]), valve, axis=1, batch_dims=1)
            loss = tf.reduce_mean(mask * (told - reward[:, None]) ** 2)
        tv = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, tv), tv))
        return loss
