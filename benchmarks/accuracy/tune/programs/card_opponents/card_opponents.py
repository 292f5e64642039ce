"""Self-play in a card game against earlier selves (a league in small)."""

import os
import random
import sys
import tempfile

import numpy as np
import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rules import CARDS, HAND, OBSERVATION, Table  # noqa: E402

GAMES, ROUNDS, SNAPSHOT = 96, 170, 17
rng = np.random.default_rng(9)
random.seed(9)


def make_player():
    player = tf.keras.Sequential(
        [
            tf.keras.Input((OBSERVATION,)),
            tf.keras.layers.Dense(384, activation="relu"),
            tf.keras.layers.LayerNormalization(),
            tf.keras.layers.Dense(384, activation="relu"),
            tf.keras.layers.LayerNormalization(),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(CARDS),
        ]
    )
    player.compile(optimizer=tf.keras.optimizers.Adam(4e-4), loss="mse")
    return player


player = make_player()
optimizer = tf.keras.optimizers.Adam(4e-4)


@tf.function
def improve(seen, card, gain):
    with tf.GradientTape() as tape:
        log_chance = tf.nn.log_softmax(player(seen, training=True))
        mine = tf.gather(log_chance, card, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_chance) * log_chance, -1))
        loss = -tf.reduce_mean(gain * mine) - 0.01 * entropy
    grads = tape.gradient(loss, player.trainable_variables)
    optimizer.apply_gradients(zip(grads, player.trainable_variables))
    return loss


class League:
    """The earlier selves, on disk."""

    def __init__(self, folder):
        self.folder, self.names = folder, []

    def add(self, model, number):
        name = os.path.join(self.folder, f"self_{number:04d}.keras")
        model.save(name)
        self.names.append(name)

    def opponent(self):
        return tf.keras.models.load_model(random.choice(self.names))


def games_against(opponent):
    table = Table(GAMES, rng)
    seen, cards, wins = [], [], []
    for _ in range(HAND):
        seen.append(table.observe(0))
        noise = rng.gumbel(size=(GAMES, CARDS))
        cards.append(table.play(0, player(seen[-1]).numpy() + noise))
        answer = table.play(1, opponent(table.observe(1, cards[-1])).numpy())
        wins.append(table.trick(cards[-1], answer))
    after = np.cumsum(np.array(wins)[::-1], axis=0)[::-1]
    gain = (after - after.mean(1, keepdims=True)) / (after.std() + 1e-6)
    return np.concatenate(seen), np.concatenate(cards), gain.reshape(-1).astype("float32"), after[0]


with tempfile.TemporaryDirectory() as folder:
    league = League(folder)
    league.add(player, 0)
    for round_ in range(1, ROUNDS + 1):
        seen, cards, gain, points = games_against(league.opponent())
        for part in np.array_split(rng.permutation(len(seen)), 3):
            part = part[:256]
            loss = improve(
                tf.constant(seen[part]), tf.constant(cards[part]), tf.constant(gain[part])
            )
        if round_ % SNAPSHOT == 0:
            league.add(player, round_)
            print(f"round {round_}: {points.mean():+.2f} tricks against {len(league.names)} selves")
