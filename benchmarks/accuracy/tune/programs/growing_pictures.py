"""Progressive resizing: pictures of 16, 24, and 32 pixels."""

import tensorflow as tf

pictures = tf.random.uniform([960, 32, 32, 3])
kinds = tf.random.uniform([960], 0, 4, tf.int32)
net = tf.keras.Sequential(
    [
        tf.keras.layers.Conv2D(16, 3, activation="relu"),
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(4),
    ]
)
net.build((None, None, None, 3))
opt = tf.keras.optimizers.Adam(1e-3)
opt.build(net.trainable_variables)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = net(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for side in (16, 24, 32):
    ds = tf.data.Dataset.from_tensor_slices((tf.image.resize(pictures, (side, side)), kinds))
    ds = ds.shuffle(960).batch(32, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    for epoch in range(12):
        for x, y in ds:
            loss = step(x, y)
    print(side, float(loss))
