"""Rules of a trick game for two: higher card wins, the fifth suit is trump."""

import numpy as np

SUITS, RANKS, HAND = 4, 8, 6
CARDS = SUITS * RANKS
OBSERVATION = 3 * CARDS


class Table:
    """Many games at once."""

    def __init__(self, games, rng):
        self.games, self.rows = games, np.arange(games)
        deck = np.argsort(rng.random((games, CARDS)), axis=1)
        self.hands = np.zeros((2, games, CARDS), bool)
        for player in range(2):
            dealt = deck[:, player * HAND : (player + 1) * HAND]
            self.hands[player][self.rows[:, None], dealt] = True
        self.gone = np.zeros((games, CARDS), bool)

    def observe(self, player, lead=None):
        table = np.zeros((self.games, CARDS), bool)
        if lead is not None:
            table[self.rows, lead] = True
        return np.concatenate([self.hands[player], table, self.gone], 1).astype("float32")

    def play(self, player, scores):
        """The card of the highest score that is in the hand."""
        card = np.where(self.hands[player], scores, -np.inf).argmax(1)
        self.hands[player][self.rows, card] = False
        self.gone[self.rows, card] = True
        return card

    def trick(self, lead, answer):
        """1 where the leader wins, else -1."""
        trump = SUITS - 1
        same = lead // RANKS == answer // RANKS
        beaten = np.where(same, answer > lead, answer // RANKS == trump)
        return np.where(beaten, -1.0, 1.0).astype("float32")
