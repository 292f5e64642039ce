import tensorflow as tf

L = tf.keras.layers


def _unit(x, ch, stride):
    y = L.Conv2D(ch, 3, strides=stride, padding="same", use_bias=False)(x)
    y = L.LayerNormalization()(y)
    y = L.Activation("relu")(y)
    y = L.Conv2D(ch, 3, padding="same")(y)
    s = L.Conv2D(ch, 1, strides=stride)(x)
    return L.Add()([y, s])


def build_trunk(side):
    """Stands in for the weights we get from the survey's big texture model."""
    inp = tf.keras.Input((side, side, 3))
    x = L.Conv2D(24, 3, padding="same")(inp)
    for ch, stride in ((32, 2), (48, 1), (64, 2), (96, 2)):
        x = _unit(x, ch, stride)
    return tf.keras.Model(inp, x, name="trunk")


def build_neck(shape, dim):
    inp = tf.keras.Input(shape)
    x = L.Conv2D(64, 1, activation="relu")(inp)
    x = L.GlobalAveragePooling2D()(x)
    x = L.Dense(128, activation="relu")(x)
    x = L.Dense(dim)(x)
    return tf.keras.Model(inp, x, name="neck")


class Proxies(tf.keras.layers.Layer):
    def __init__(self, n, dim):
        super().__init__()
        self.points = self.add_weight(shape=(n, dim), initializer="random_normal", name="points")

    def call(self, z):
        z = tf.math.l2_normalize(z, axis=1)
        p = tf.math.l2_normalize(self.points, axis=1)
        return 12.0 * tf.matmul(z, p, transpose_b=True)
