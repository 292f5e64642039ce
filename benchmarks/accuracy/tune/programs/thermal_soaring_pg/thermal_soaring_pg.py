"""Policy gradient for a glider that looks for thermals; flights get longer as it learns."""

import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from air import ThermalField
from pilot import Pilot
from school import FlightSchool


@dataclass
class Config:
    seed: int = 5
    gliders: int = 768
    thermals: int = 12
    hidden: int = 192
    lr: float = 6e-4
    gamma: float = 0.97
    entropy: float = 0.01
    lessons: tuple = ((25, 25), (25, 45), (20, 70), (14, 100))
    check_flights: int = 256


def main():
    cfg = Config()
    np.random.seed(cfg.seed)
    tf.random.set_seed(cfg.seed)
    air = ThermalField(cfg.thermals, seed=cfg.seed)
    pilot = Pilot(air.n_obs, cfg.hidden)
    school = FlightSchool(cfg, air, pilot)
    start = time.time()
    for lesson, (updates, horizon) in enumerate(cfg.lessons):
        begun = time.time()
        gain, spread = school.lesson(updates, horizon)
        height = school.examine(horizon)
        print(
            f"lesson {lesson}: horizon {horizon:3d}  return {gain:7.2f} +- {spread:5.2f}  "
            f"exam height {height:7.2f}  ({time.time() - begun:.1f}s)"
        )
    print(f"flown in {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
