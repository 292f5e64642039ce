"""Learns to balance a pole on a cart: deep Q-learning with a memory of transitions."""

import argparse
import collections
import math
import random

import keras
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--episodes", type=int, default=12)
arguments = parser.parse_args()
keras.utils.set_random_seed(7)


class Cart:
    """The classic problem: the pole falls beyond 12 degrees, the track ends at 2.4 m."""

    def reset(self):
        self.state = np.random.uniform(-0.05, 0.05, 4)
        return self.state[None]

    def step(self, action):
        _, speed, angle, turn = self.state
        force = 10.0 if action else -10.0
        pull = (force + 0.05 * turn**2 * math.sin(angle)) / 1.1
        fall = (9.8 * math.sin(angle) - math.cos(angle) * pull) / (
            0.5 * (4.0 / 3.0 - 0.1 * math.cos(angle) ** 2 / 1.1)
        )
        push = pull - 0.05 * fall * math.cos(angle) / 1.1
        self.state = self.state + 0.02 * np.array([speed, push, turn, fall])
        fell = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return self.state[None], (-10.0 if fell else 1.0), fell


class Agent:
    """Chooses actions, and learns from what came of them."""

    def __init__(self):
        self.memory = collections.deque(maxlen=2000)
        self.epsilon = 1.0
        self.model = keras.Sequential(
            [
                keras.layers.Dense(24, activation="relu"),
                keras.layers.Dense(24, activation="relu"),
                keras.layers.Dense(2),
            ]
        )
        self.model.compile(keras.optimizers.Adam(0.001), "mse")

    def act(self, state):
        if random.random() <= self.epsilon:
            return random.randrange(2)
        return int(np.argmax(self.model.predict(state, verbose=0)[0]))

    def replay(self, size):
        for state, action, reward, next_state, fell in random.sample(list(self.memory), size):
            target = reward
            if not fell:
                target += 0.95 * np.amax(self.model.predict(next_state, verbose=0)[0])
            future = self.model.predict(state, verbose=0)
            future[0][action] = target
            self.model.fit(state, future, epochs=1, verbose=0)
        self.epsilon = max(0.01, 0.98 * self.epsilon)


cart, agent = Cart(), Agent()
for episode in range(arguments.episodes):
    state = cart.reset()
    for moment in range(200):
        action = agent.act(state)
        next_state, reward, fell = cart.step(action)
        agent.memory.append((state, action, reward, next_state, fell))
        state = next_state
        if fell:
            break
    print(f"episode {episode}: {moment} steps, epsilon {agent.epsilon:.2f}")
    if len(agent.memory) > 32:
        agent.replay(32)
