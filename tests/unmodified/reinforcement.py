"""Deep Q-learning that asks `predict` for each action."""

import numpy as np
import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs")

tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.SGD(0.01)
optimizer.build(model.trainable_variables)


@tf.function
def learn(states, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(states) - targets) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


state, score = np.zeros((1, 2), "float32"), 0
for _ in range(80):
    action = int(np.argmax(model.predict(state, verbose=0)[0]))
    state = (0.9 * state + rng.normal(size=(1, 2)) * (action + 1)).astype("float32")
    score += action
    # tbslow: with tbslow.summary.step(): loss = learn(tf.constant(state), tf.constant(state))
    loss = learn(tf.constant(state), tf.constant(state))
print(f"score {score}, loss {float(loss):.6f}")
