"""Neural collaborative filtering on implicit feedback, Keras fit with a Sequence-like feed."""

import os
import tempfile

import numpy as np
import keras
from keras import layers

N_USERS = 12000
N_MOVIES = 4000
DIM = 32
NEG_PER_POS = 4
POSITIVES_PER_BATCH = 1024
EPOCHS = 3


def make_interactions(seed=0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(N_USERS, 4))
    popularity = rng.zipf(1.3, size=N_MOVIES).astype(float)
    popularity = np.minimum(popularity, 50) / np.minimum(popularity, 50).sum()
    watched = []
    for k in range(N_USERS):
        n = int(rng.integers(3, 10)) if k % 20 else int(rng.integers(200, 600))
        watched.append(list(rng.choice(N_MOVIES, size=n, p=popularity)))
    return u, watched


class RatingFeed(keras.utils.PyDataset):
    """One positive and a few movies that the user has not watched."""

    def __init__(self, watched, n_batches, seed, **kw):
        super().__init__(**kw)
        self.watched = watched
        self.rng = np.random.default_rng(seed)
        self.n_batches = n_batches
        self.pairs = np.array([(u, m) for u, ms in enumerate(watched) for m in ms], np.int32)

    def __len__(self):
        return self.n_batches

    def draw_negative(self, user):
        movie = self.rng.integers(N_MOVIES)
        while movie in self.watched[user]:
            movie = self.rng.integers(N_MOVIES)
        return movie

    def __getitem__(self, index):
        users, movies, labels = [], [], []
        rows = self.rng.integers(len(self.pairs), size=POSITIVES_PER_BATCH)
        for user, movie in self.pairs[rows]:
            users.append(user)
            movies.append(movie)
            labels.append(1.0)
            for _ in range(NEG_PER_POS):
                users.append(user)
                movies.append(self.draw_negative(user))
                labels.append(0.0)
        x = {"user": np.array(users, np.int32), "movie": np.array(movies, np.int32)}
        return x, np.array(labels, np.float32)


def build_model():
    user = keras.Input((), dtype="int32", name="user")
    movie = keras.Input((), dtype="int32", name="movie")
    gu = layers.Embedding(N_USERS, DIM, name="gmf_user")(user)
    gm = layers.Embedding(N_MOVIES, DIM, name="gmf_movie")(movie)
    mu = layers.Embedding(N_USERS, DIM, name="mlp_user")(user)
    mm = layers.Embedding(N_MOVIES, DIM, name="mlp_movie")(movie)
    gmf = layers.Multiply()([gu, gm])
    x = layers.Concatenate()([mu, mm])
    for width in (128, 64, 32):
        x = layers.Dense(width, activation="relu")(x)
    out = layers.Dense(1, activation="sigmoid")(layers.Concatenate()([gmf, x]))
    return keras.Model([user, movie], out)


class WarmupRate(keras.callbacks.Callback):
    def __init__(self, peak, steps):
        super().__init__()
        self.peak, self.steps, self.seen = peak, steps, 0

    def on_train_batch_begin(self, batch, logs=None):
        self.seen += 1
        if self.seen <= self.steps:
            self.model.optimizer.learning_rate = self.peak * self.seen / self.steps


class KeepBest(keras.callbacks.Callback):
    """Holds on to the model with the lowest smoothed training loss."""

    def __init__(self, path, momentum=0.9):
        super().__init__()
        self.path, self.momentum = path, momentum
        self.smooth, self.best = None, float("inf")

    def on_train_batch_end(self, batch, logs=None):
        loss = logs["loss"]
        self.smooth = (
            loss
            if self.smooth is None
            else self.momentum * self.smooth + (1 - self.momentum) * loss
        )
        if self.smooth < self.best:
            self.best = self.smooth
            self.model.save(self.path)


def main():
    keras.utils.set_random_seed(4)
    out = tempfile.mkdtemp()
    _, watched = make_interactions()
    feed = RatingFeed(watched, n_batches=120, seed=1)
    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="binary_crossentropy",
        metrics=[keras.metrics.AUC(name="auc")],
    )
    callbacks = [
        WarmupRate(1e-3, 100),
        KeepBest(os.path.join(out, "best.keras")),
        keras.callbacks.CSVLogger(os.path.join(out, "log.csv")),
    ]
    model.fit(feed, epochs=EPOCHS, callbacks=callbacks, verbose=2)
    print("files:", sorted(os.listdir(out)))


if __name__ == "__main__":
    main()
