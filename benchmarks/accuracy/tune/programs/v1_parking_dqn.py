# Deep Q-learning for a car that searches a parking lot (TF1 code, runs with compat.v1)
import random
from collections import deque

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

N_ACTIONS, N_FEATURES, BATCH, GAMMA = 4, 10, 128, 0.95
REPLACE_EVERY = 8


class ParkingLot:
    def reset(self):
        self.car = np.random.randint(0, 8, 2)
        self.free = np.random.randint(0, 8, (4, 2))
        self.t = 0
        return self._state()

    def _state(self):
        return np.concatenate([self.car, self.free.ravel()]) / 8.0

    def step(self, action):
        move = [(0, 1), (0, -1), (1, 0), (-1, 0)][action]
        self.car = np.clip(self.car + move, 0, 7)
        self.t += 1
        parked = (self.car == self.free).all(1).any()
        return self._state(), 1.0 if parked else -0.02, parked or self.t > 40


class DeepQNetwork:
    def __init__(self, lr=1e-3, epsilon=0.9):
        self.epsilon = epsilon
        self.memory = deque(maxlen=4000)
        self.learn_step = 0
        self._build_net(lr)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def _layers(self, x, scope):
        with tf.variable_scope(scope):
            for k, width in enumerate((256, 256)):
                fan = int(x.shape[1])
                w = tf.get_variable(f"w{k}", [fan, width])
                x = tf.nn.relu(tf.matmul(x, w) + tf.get_variable(f"b{k}", [width]))
            return tf.matmul(x, tf.get_variable("out", [256, N_ACTIONS]))

    def _build_net(self, lr):
        self.s = tf.placeholder(tf.float32, [None, N_FEATURES])
        self.s_ = tf.placeholder(tf.float32, [None, N_FEATURES])
        self.r = tf.placeholder(tf.float32, [None])
        self.a = tf.placeholder(tf.int32, [None])
        self.end = tf.placeholder(tf.float32, [None])
        self.q_eval = self._layers(self.s, "eval_net")
        q_next = self._layers(self.s_, "target_net")
        target = self.r + GAMMA * (1 - self.end) * tf.reduce_max(q_next, 1)
        chosen = tf.reduce_sum(self.q_eval * tf.one_hot(self.a, N_ACTIONS), 1)
        self.loss = tf.reduce_mean(tf.squared_difference(tf.stop_gradient(target), chosen))
        self.train_op = tf.train.RMSPropOptimizer(lr).minimize(
            self.loss, var_list=tf.trainable_variables("eval_net")
        )

    def choose_action(self, state):
        if random.random() > self.epsilon:
            return random.randrange(N_ACTIONS)
        return int(self.sess.run(self.q_eval, {self.s: state[None]}).argmax())

    def _replace_target_params(self):
        t_params = tf.trainable_variables("target_net")
        e_params = tf.trainable_variables("eval_net")
        self.sess.run([tf.assign(t, e) for t, e in zip(t_params, e_params)])

    def learn(self):
        if self.learn_step % REPLACE_EVERY == 0:
            self._replace_target_params()
        s, a, r, s_, end = map(np.array, zip(*random.sample(self.memory, BATCH)))
        feed = {self.s: s, self.a: a, self.r: r, self.s_: s_, self.end: end}
        _, cost = self.sess.run([self.train_op, self.loss], feed)
        self.learn_step += 1
        return cost


env, RL = ParkingLot(), DeepQNetwork()
step = 0
for episode in range(85):
    observation, done, cost = env.reset(), False, 0.0
    while not done:
        action = RL.choose_action(observation)
        observation_, reward, done = env.step(action)
        RL.memory.append((observation, action, reward, observation_, float(done)))
        if len(RL.memory) > 200:
            cost = RL.learn()
        observation = observation_
        step += 1
    if episode % 10 == 0:
        print("episode %d, steps %d, cost %.4f" % (episode, step, cost))
