"""A transformer in a loop of its own; the loss is read every 50 steps. HEALTHY."""
import numpy as np, tensorflow as tf, keras
from keras import layers
tf.random.set_seed(3)
V, T, D = 512, 128, 256
def net():
    i = keras.Input((T,), dtype="int32")
    h = layers.Embedding(V, D)(i)
    for _ in range(4):
        a = layers.MultiHeadAttention(4, 64)(h, h, use_causal_mask=True)
        h = layers.LayerNormalization()(h + a)
        f = layers.Dense(D)(layers.Dense(4 * D, activation="gelu")(h))
        h = layers.LayerNormalization()(h + f)
    return keras.Model(i, layers.Dense(V)(h))
model = net()
opt = keras.optimizers.AdamW(3e-4)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = ce(x[:, 1:], model(x, training=True)[:, :-1])
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
text = np.random.default_rng(1).integers(0, V, (20000, T)).astype("int32")
ds = tf.data.Dataset.from_tensor_slices(text).shuffle(20000).repeat().batch(64, drop_remainder=True).prefetch(4)
for n, x in enumerate(ds.take(1200)):
    loss = train(x)
    if n % 50 == 0:
        print(n, float(loss))
