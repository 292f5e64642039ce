"""Q-learning for the heating of an office: comfort against the gas bill."""

from __future__ import annotations

import random
from collections import deque

import numpy as np
from keras import Input, Sequential
from keras.layers import Dense
from keras.optimizers import Adam


class Office:
    """Six rooms, one boiler, weather."""

    ROOMS = 6

    def reset(self) -> np.ndarray:
        self.t = 0
        self.rooms = np.random.uniform(15, 20, self.ROOMS)
        return self.observe()

    def observe(self) -> np.ndarray:
        clock = [np.sin(self.t / 24 * 6.28), np.cos(self.t / 24 * 6.28)]
        return np.concatenate([self.rooms / 10 - 2, clock, [self.outside() / 10]]).astype("float32")

    def outside(self) -> float:
        return 5 + 6 * np.sin((self.t - 8) / 24 * 6.28)

    def step(self, heat: int) -> tuple[np.ndarray, float, bool]:
        self.rooms += 0.1 * (self.outside() - self.rooms) + 0.9 * heat
        self.rooms += 0.05 * (self.rooms.mean() - self.rooms)
        self.t += 1
        discomfort = np.abs(self.rooms - 21).mean() if 7 <= self.t % 24 <= 18 else 0.0
        return self.observe(), -discomfort - 0.15 * heat, self.t >= 48


class Agent:
    ACTIONS = 4

    def __init__(self, size: int):
        self.memory: deque = deque(maxlen=5000)
        self.gamma, self.epsilon = 0.95, 1.0
        self.model = self._build(size)

    def _build(self, size: int) -> Sequential:
        model = Sequential([Input((size,))])
        for _ in range(3):
            model.add(Dense(512, activation="relu"))
        model.add(Dense(self.ACTIONS, activation="linear"))
        model.compile(loss="mse", optimizer=Adam(learning_rate=5e-4))
        return model

    def act(self, state: np.ndarray) -> int:
        if random.random() < self.epsilon:
            return random.randrange(self.ACTIONS)
        return int(np.argmax(self.model(state[None])[0]))

    def replay(self, count: int = 768) -> None:
        picks = random.choices(self.memory, k=count)
        states, actions, rewards, nexts, ends = (np.array(column) for column in zip(*picks))
        future = self.model.predict_on_batch(nexts).max(axis=1)
        targets = np.array(self.model.predict_on_batch(states))
        targets[np.arange(count), actions] = rewards + self.gamma * future * ~ends
        self.model.fit(states, targets, batch_size=count, epochs=1, verbose=0)
        self.epsilon = max(0.05, self.epsilon * 0.99)


def main(episodes: int = 7) -> None:
    random.seed(0)
    np.random.seed(0)
    office = Office()
    agent = Agent(len(office.reset()))
    for episode in range(episodes):
        state, end, total = office.reset(), False, 0.0
        while not end:
            action = agent.act(state)
            after, reward, end = office.step(action)
            agent.memory.append((state, action, reward, after, end))
            state, total = after, total + reward
            agent.replay()
        print(f"episode {episode}: {total:.1f} points, epsilon {agent.epsilon:.2f}")


if __name__ == "__main__":
    main()
