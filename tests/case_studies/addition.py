"""Learns to add numbers of three digits, character by character, and shows its progress."""

import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=10)
parser.add_argument("--examples", type=int, default=4000)
arguments = parser.parse_args()

DIGITS = 3
LENGTH = DIGITS + 1 + DIGITS
CHARACTERS = "0123456789+ "


def encode(texts, length):
    codes = np.array([[CHARACTERS.index(each) for each in text.ljust(length)] for text in texts])
    return np.eye(len(CHARACTERS), dtype="float32")[codes]


def decode(codes):
    return "".join(CHARACTERS[code] for code in codes)


keras.utils.set_random_seed(1)
random = np.random.default_rng(1)
numbers = random.integers(0, 10**DIGITS, (arguments.examples, 2))
questions = encode([f"{a}+{b}" for a, b in numbers], LENGTH)
answers = encode([str(a + b) for a, b in numbers], DIGITS + 1)
split = len(numbers) * 9 // 10
x_val, y_val = questions[split:], answers[split:]

model = keras.Sequential(
    [
        keras.layers.LSTM(64),
        keras.layers.RepeatVector(DIGITS + 1),
        keras.layers.LSTM(64, return_sequences=True),
        keras.layers.Dense(len(CHARACTERS), activation="softmax"),
    ]
)
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])

for iteration in range(arguments.iterations):
    history = model.fit(questions[:split], answers[:split], batch_size=128, verbose=0)
    print(f"iteration {iteration}: loss {history.history['loss'][0]:.4f}")
    # Ten examples of the validation set, to see how it goes.
    for _ in range(10):
        row = random.integers(0, len(x_val))
        question, right = x_val[row : row + 1], y_val[row]
        guess = np.argmax(model.predict(question, verbose=0)[0], axis=-1)
        mark = "yes" if (guess == right.argmax(axis=-1)).all() else "no"
        print(f"  {decode(question[0].argmax(axis=-1))} = {decode(guess)} {mark}")
