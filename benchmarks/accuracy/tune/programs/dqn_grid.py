"""Deep Q-learning in a small grid world, one call of predict for each move."""

import random
from collections import deque

import numpy as np
from tensorflow.keras import Input, Sequential
from tensorflow.keras.layers import Dense
from tensorflow.keras.optimizers import Adam


class Grid:
    def reset(self):
        self.at, self.moves = [0, 0], 0
        return self.state()

    def state(self):
        s = np.zeros((1, 25), "float32")
        s[0, 5 * self.at[0] + self.at[1]] = 1
        return s

    def act(self, action):
        axis, sign = divmod(action, 2)
        self.at[axis] = min(4, max(0, self.at[axis] + (1 if sign else -1)))
        self.moves += 1
        done = self.at == [4, 4] or self.moves == 20
        return self.state(), float(self.at == [4, 4]), done


class Agent:
    def __init__(self):
        self.memory = deque(maxlen=2000)
        self.epsilon = 0.3
        self.model = Sequential(
            [Input((25,)), Dense(24, activation="relu"), Dense(24, activation="relu"), Dense(4)]
        )
        self.model.compile(loss="mse", optimizer=Adam(learning_rate=0.003))

    def choose(self, state):
        if random.random() < self.epsilon:
            return random.randrange(4)
        return int(np.argmax(self.model.predict(state, verbose=0)[0]))

    def replay(self):
        batch = random.sample(self.memory, 32)
        states = np.concatenate([b[0] for b in batch])
        nexts = np.concatenate([b[3] for b in batch])
        q = np.array(self.model(states))
        best = np.array(self.model(nexts)).max(1)
        for k, (_, action, reward, _, done) in enumerate(batch):
            q[k, action] = reward + (0 if done else 0.95 * best[k])
        self.model.train_on_batch(states, q)


env, agent = Grid(), Agent()
for episode in range(18):
    state, done, total = env.reset(), False, 0.0
    while not done:
        action = agent.choose(state)
        following, reward, done = env.act(action)
        agent.memory.append((state, action, reward, following, done))
        state, total = following, total + reward
        if len(agent.memory) >= 32:
            agent.replay()
    print("episode", episode, "reward", total)
