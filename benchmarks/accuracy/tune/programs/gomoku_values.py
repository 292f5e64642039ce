"""Afterstate values for four-in-a-row on a 6x6 board, learned from self-play."""

import gc
import random

import numpy as np
import tensorflow as tf

SIDE, GAMES, REPLAY, EPSILON = 6, 24, 24, 0.15
random.seed(4)
np.random.seed(4)


class Board:
    def __init__(self):
        self.cells = np.zeros((SIDE, SIDE), np.float32)

    def moves(self):
        return list(zip(*np.nonzero(self.cells == 0)))

    def after(self, move, player):
        cells = self.cells.copy()
        cells[move] = player
        return cells

    def has_won(self, move, player):
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            run = 1
            for sign in (1, -1):
                r, c = move
                while True:
                    r, c = r + sign * dr, c + sign * dc
                    if not (0 <= r < SIDE and 0 <= c < SIDE and self.cells[r, c] == player):
                        break
                    run += 1
            if run >= 4:
                return True
        return False


def build():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((SIDE, SIDE, 1)),
            tf.keras.layers.Conv2D(48, 3, padding="same", activation="relu"),
            tf.keras.layers.Conv2D(48, 3, padding="same", activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(1, activation="tanh"),
        ]
    )
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")
    return model


def choose(model, board, player):
    moves = board.moves()
    if random.random() < EPSILON:
        return random.choice(moves)
    nexts = np.stack([board.after(m, player) * player for m in moves])[..., None]
    values = model.predict(nexts, verbose=0)[:, 0]
    return moves[int(np.argmax(values))]


def play(model):
    board, player, states = Board(), 1, []
    while board.moves():
        move = choose(model, board, player)
        board.cells = board.after(move, player)
        states.append((board.cells.copy() * player, player))
        if board.has_won(move, player):
            return states, player
        player = -player
    return states, 0


model = build()
memory = []
for game in range(GAMES):
    states, winner = play(model)
    for age, (cells, player) in enumerate(reversed(states)):
        memory.append((cells, 0.9**age * player * winner))
    memory = memory[-4000:]
    gc.collect()
    for _ in range(REPLAY):
        picks = random.choices(memory, k=256)
        x = np.stack([p[0] for p in picks])[..., None]
        y = np.array([p[1] for p in picks], np.float32)
        turns = np.concatenate([np.rot90(x, k, (1, 2)) for k in range(2)])
        loss = model.train_on_batch(turns, np.tile(y, 2))
    if game % 5 == 0:
        print(f"game {game}: {len(states)} moves, winner {winner:+d}, loss {float(loss):.4f}")
