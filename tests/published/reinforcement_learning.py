"""Deep Q-learning with a replay memory: `predict` for each action and each replayed state.

After the widely copied "Deep Q-learning with Keras and Gym"; the environment is a corridor.
"""

import random
from collections import deque

import numpy as np
from tensorflow import keras

# tbslow: import tbslow; tbslow.start("logs")

random.seed(6)
keras.utils.set_random_seed(6)


class Corridor:
    """Walk right to the end; the state is where one is, and how fast."""

    def reset(self):
        self.place, self.speed, self.time = random.random() * 0.2, 0.0, 0
        return np.array([[self.place, self.speed]], "float32")

    def step(self, action):
        self.time += 1
        self.speed = 0.8 * self.speed + (0.05 if action else -0.05)
        self.place = max(0.0, self.place + self.speed)
        done = self.place >= 1.0 or self.time >= 8
        reward = 1.0 if self.place >= 1.0 else -0.01
        return np.array([[self.place, self.speed]], "float32"), reward, done


class Agent:
    def __init__(self):
        self.memory = deque(maxlen=500)
        self.gamma, self.epsilon = 0.95, 1.0
        self.model = keras.Sequential(
            [
                keras.Input((2,)),
                keras.layers.Dense(24, activation="relu"),
                keras.layers.Dense(2, activation="linear"),
            ]
        )
        self.model.compile(loss="mse", optimizer=keras.optimizers.Adam(learning_rate=0.005))

    def act(self, state):
        if np.random.rand() <= self.epsilon:
            return random.randrange(2)
        return int(np.argmax(self.model.predict(state, verbose=0)[0]))

    def replay(self, count):
        losses = []
        for state, action, reward, following, done in random.sample(self.memory, count):
            target = reward
            if not done:
                target += self.gamma * np.amax(self.model.predict(following, verbose=0)[0])
            targets = self.model.predict(state, verbose=0)
            targets[0][action] = target
            history = self.model.fit(state, targets, epochs=1, verbose=0)
            losses.append(history.history["loss"][0])
        self.epsilon = max(0.1, self.epsilon * 0.8)
        return float(np.mean(losses))


world, agent = Corridor(), Agent()
for episode in range(6):
    state, done, score, loss = world.reset(), False, 0.0, float("nan")
    while not done:
        # tbslow: with tbslow.summary.step(): action = agent.act(state)
        action = agent.act(state)
        following, reward, done = world.step(action)
        agent.memory.append((state, action, reward, following, done))
        state, score = following, score + reward
    if len(agent.memory) > 16:
        loss = agent.replay(3)
    print(f"episode {episode}: score {score:.2f}, loss {loss:.5f}, e {agent.epsilon:.2f}")
agent.model.save_weights("agent.weights.h5")
