"""Routes support tickets to teams; after each epoch a few routed tickets are shown."""

import random
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras

TEAMS = ["billing", "network", "hardware", "accounts", "sales"]
HINTS = {
    "billing": "invoice refund charge card price".split(),
    "network": "router wifi slow cable offline".split(),
    "hardware": "screen keyboard noise fan broken".split(),
    "accounts": "password login locked user reset".split(),
    "sales": "offer upgrade discount seats trial".split(),
}
FILLER = "please hello the my is since yesterday help with again thanks team a it".split()


def write_ticket(team):
    words = random.choices(FILLER, k=14) + random.choices(HINTS[team], k=3)
    random.shuffle(words)
    return " ".join(words)


random.seed(5)
labels = [random.randrange(len(TEAMS)) for _ in range(2400)]
tickets = [write_ticket(TEAMS[k]) for k in labels]

vectorize = keras.layers.TextVectorization(max_tokens=500, output_sequence_length=20)
vectorize.adapt(tickets)
x, y = np.array(vectorize(tf.constant(tickets))), np.array(labels)

inputs = keras.Input((20,), dtype="int64")
h = keras.layers.Embedding(500, 32)(inputs)
h = keras.layers.Conv1D(32, 3, activation="relu")(h)
h = keras.layers.GlobalMaxPooling1D()(h)
h = keras.layers.Dropout(0.3)(h)
model = keras.Model(inputs, keras.layers.Dense(len(TEAMS), activation="softmax")(h))
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])


class Showcase(keras.callbacks.Callback):
    def __init__(self, shown, out=sys.stdout):
        super().__init__()
        self.shown, self.out = shown, out

    def on_epoch_end(self, epoch, logs=None):
        for k in self.shown:
            probability = self.model.predict(x[k : k + 1], verbose=0)[0]
            team = TEAMS[int(np.argmax(probability))]
            self.out.write(f"{epoch} {tickets[k][:40]:<40} -> {team} ({probability.max():.2f})\n")


model.fit(
    x, y, epochs=6, batch_size=32, verbose=2, callbacks=[Showcase(random.sample(range(2400), 20))]
)
