"""Predict cuisine tags of recipes from their ingredients."""

import gc
import random
import time

import numpy as np
import tensorflow as tf

random.seed(4)
tf.keras.utils.set_random_seed(4)

N_RECIPES = 24000
N_INGR = 1500
TAGS = 20

pantry = ["ingr_%d" % i for i in range(N_INGR)]
print("loading recipes")
recipes = []
for i in range(N_RECIPES):
    cuisine = random.randrange(TAGS)
    n = random.randint(4, 12)
    ingr = [
        (cuisine * 60 + random.randrange(80)) % N_INGR
        if random.random() < 0.5
        else random.randrange(N_INGR)
        for _ in range(n)
    ]
    recipes.append(
        {
            "id": i,
            "cuisine": cuisine,
            "ingredients": [
                {"name": pantry[j], "index": j, "grams": random.randint(1, 500)} for j in ingr
            ],
            "steps": [],
        }
    )
print(len(recipes), "recipes")


class RecipeSequence(tf.keras.utils.PyDataset):
    def __init__(self, rows, batch_size):
        super().__init__()
        self.rows = rows
        self.batch_size = batch_size

    def __len__(self):
        return len(self.rows) // self.batch_size

    def __getitem__(self, b):
        part = self.rows[b * self.batch_size : (b + 1) * self.batch_size]
        x = np.zeros((len(part), N_INGR), np.float32)
        for r, rec in enumerate(part):
            for ing in rec["ingredients"]:
                x[r, ing["index"]] = 1.0
        y = np.array([rec["cuisine"] for rec in part], np.int32)
        return x, y

    def on_epoch_end(self):
        random.shuffle(self.rows)


class FreeMemory(tf.keras.callbacks.Callback):
    # the notebook kernel kept dying with out-of-memory
    def on_train_batch_end(self, batch, logs=None):
        gc.collect()


class Progress(tf.keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.t0 = time.time()

    def on_epoch_end(self, epoch, logs=None):
        print(
            "epoch %d  loss %.3f  acc %.3f  val %.3f  %.1f s"
            % (epoch, logs["loss"], logs["accuracy"], logs["val_accuracy"], time.time() - self.t0)
        )


model = tf.keras.Sequential(
    [
        tf.keras.Input((N_INGR,)),
        tf.keras.layers.Dense(1024, activation="relu"),
        tf.keras.layers.Dropout(0.4),
        tf.keras.layers.Dense(512, activation="relu"),
        tf.keras.layers.Dense(TAGS, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

train, val = recipes[:-4096], recipes[-4096:]
model.fit(
    RecipeSequence(train[:19456], 512),
    validation_data=RecipeSequence(val, 512),
    epochs=4,
    verbose=0,
    callbacks=[FreeMemory(), Progress()],
)
