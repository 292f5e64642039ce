"""Custom loop with metrics, a test loop and a small checkpoint after each epoch."""

import tensorflow as tf


def dataset(n, seed, training):
    x = tf.random.stateless_normal([n, 64], [seed, 0])
    y = tf.cast(tf.reduce_sum(x[:, :5], 1) > 0, tf.int32)
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    return ds.shuffle(n).batch(64).prefetch(2) if training else ds.batch(512)


train_ds, test_ds = dataset(16_000, 1, True), dataset(2_000, 2, False)
model = tf.keras.Sequential(
    [
        tf.keras.Input((64,)),
        tf.keras.layers.Dense(300, "relu"),
        tf.keras.layers.Dense(300, "relu"),
        tf.keras.layers.Dense(2),
    ]
)
optimizer = tf.keras.optimizers.Adam()
criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_loss, test_acc = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()
checkpoint = tf.train.Checkpoint(model=model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = criterion(y, model(x, training=True))
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    )
    train_loss(loss)


@tf.function
def test_step(x, y):
    test_acc(y, model(x, training=False))


for epoch in range(7):
    train_loss.reset_state()
    test_acc.reset_state()
    for x, y in train_ds:
        train_step(x, y)
    for x, y in test_ds:
        test_step(x, y)
    checkpoint.write(f"model-{epoch}")
    print(f"Epoch {epoch + 1}, loss {train_loss.result():.4f}, accuracy {test_acc.result():.3f}")
