"""Knowledge distillation with a few scalars for TensorBoard, marked with tbslow's own API."""

import tensorflow as tf

import tbslow

teacher = tf.keras.Sequential(
    [tf.keras.Input((64,)), tf.keras.layers.Dense(600, "relu"), tf.keras.layers.Dense(10)]
)
student = tf.keras.Sequential(
    [tf.keras.Input((64,)), tf.keras.layers.Dense(60, "relu"), tf.keras.layers.Dense(10)]
)
optimizer = tf.keras.optimizers.Adam()
writer = tf.summary.create_file_writer("board")


@tf.function
def distill(x):
    soft = tf.nn.softmax(teacher(x) / 2.0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(soft, student(x) / 2.0))
    optimizer.apply_gradients(
        zip(tape.gradient(loss, student.trainable_variables), student.trainable_variables)
    )
    return loss


with tbslow.start("logs"):
    for step in range(3000):
        with tbslow.summary.step():
            loss = distill(tf.random.normal([64, 64]))
        if step % 100 == 0:
            with writer.as_default(step=step):
                tf.summary.scalar("loss", loss)
                tf.summary.scalar("rate", optimizer.learning_rate)
