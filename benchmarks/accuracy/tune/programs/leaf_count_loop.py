"""Coursework, exercise 4: training loop from scratch. How many leaves has the plant? (0 to 9)"""

import numpy as np
import tensorflow as tf


def make_plants(n):
    rng = np.random.default_rng(44)
    x = np.zeros((n, 32, 32, 1), dtype="float32")
    y = rng.integers(0, 10, n)
    for i in range(n):
        for _ in range(y[i]):
            r, c = rng.integers(2, 29, 2)
            x[i, r - 1 : r + 2, c - 1 : c + 2, 0] = rng.uniform(0.6, 1.0)
    return x + rng.normal(0, 0.05, x.shape).astype("float32"), y


X, Y = make_plants(6400)
train_x, train_y = X[:5760], Y[:5760]
test_x, test_y = X[5760:], Y[5760:]

model = tf.keras.models.Sequential()
model.add(tf.keras.layers.Input(shape=(32, 32, 1)))
model.add(tf.keras.layers.Conv2D(16, (3, 3), activation="relu"))
model.add(tf.keras.layers.MaxPooling2D((2, 2)))
model.add(tf.keras.layers.Conv2D(32, (3, 3), activation="relu"))
model.add(tf.keras.layers.Flatten())
model.add(tf.keras.layers.Dense(64, activation="relu"))
model.add(tf.keras.layers.Dense(10))

loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()

batch_size = 64
epochs = 5
n_batches = len(train_x) // batch_size


@tf.function
def train_on(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = loss_object(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, predictions


def count_correct(predictions, labels):
    correct = 0
    off_by_one = 0
    for i in range(len(labels)):
        guess = tf.argmax(predictions[i])
        if guess == labels[i]:
            correct += 1
        elif tf.abs(guess - labels[i]) == 1:
            off_by_one += 1
    return correct, off_by_one


for epoch in range(epochs):
    order = np.random.permutation(len(train_x))
    seen = right = nearly = 0
    for b in range(n_batches):
        idx = order[b * batch_size : (b + 1) * batch_size]
        images, labels = tf.constant(train_x[idx]), tf.constant(train_y[idx])
        loss, predictions = train_on(images, labels)
        correct, off_by_one = count_correct(predictions, labels)
        right, nearly, seen = right + correct, nearly + off_by_one, seen + batch_size
    print(f"Epoch {epoch + 1}: loss {float(loss):.3f}, accuracy {right / seen:.3f}, ", end="")
    print(f"off by one {nearly / seen:.3f}")

test_guess = np.argmax(model.predict(test_x, verbose=0), axis=1)
print("Test accuracy:", np.mean(test_guess == test_y))
