"""Bootstrapped neural bandit that picks the valve setting for mixing hot-spring
sources, guest by guest.  Rewards arrive per batch of arrivals."""

import os
import time

import numpy as np
import tensorflow as tf

from settings import Settings
from ryokan import Ryokan
from agent import ThompsonAgent
from session import BanditSession


def main():
    cfg = Settings()
    np.random.seed(cfg.seed)
    tf.random.set_seed(cfg.seed)
    inn = Ryokan(cfg.n_guests, cfg.n_context, cfg.n_valves, seed=cfg.seed)
    agent = ThompsonAgent(cfg)
    session = BanditSession(cfg, inn, agent)
    t0 = time.time()
    session.run(cfg.rounds)
    print(
        "rounds %d  mean comfort (last 100) %.3f  took %.1fs"
        % (cfg.rounds, np.mean(session.history[-100:]), time.time() - t0)
    )
    print("kept in", os.path.basename(session.folder))


if __name__ == "__main__":
    main()
