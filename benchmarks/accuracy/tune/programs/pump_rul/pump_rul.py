"""Remaining useful life of pumps from sensor windows (nightly training job)."""

import argparse
import configparser
import logging
import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf

from estimator import RulEstimator
from feeder import BatchFeeder
from sensors import CHANNELS, cut_windows, simulate_fleet, standardise

DEFAULTS = """
[data]
pumps = 40
holdout = 6
window = 64
[training]
steps = 1000
batch = 64
lr = 0.002
report_every = 100
validate_every = 250
"""


def load_config(path):
    cfg = configparser.ConfigParser()
    cfg.read_string(DEFAULTS)
    if path:
        cfg.read(path)
    return cfg


def validate(model, x, y, batch=512):
    errors = []
    for i in range(0, len(x) - batch + 1, batch):
        pred = model.predict_batch(tf.constant(x[i : i + batch])).numpy()
        errors.append(np.abs(pred - y[i : i + batch]))
    return 300.0 * float(np.mean(errors))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--model-dir")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    log = logging.getLogger("pump_rul")
    cfg = load_config(args.config)
    data, train = cfg["data"], cfg["training"]
    steps = args.steps or train.getint("steps")
    window = data.getint("window")
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    fleet = simulate_fleet(data.getint("pumps"), rng)
    held = data.getint("holdout")
    fit_fleet, mean, std = standardise(fleet[held:])
    val_fleet, _, _ = standardise(fleet[:held], mean, std)
    val_x, val_y = cut_windows(val_fleet, window, stride=4)
    log.info("%d pumps for training, %d validation windows", len(fit_fleet), len(val_x))

    model = RulEstimator(window, CHANNELS, train.getfloat("lr"), steps)
    feeder = BatchFeeder(fit_fleet, window, train.getint("batch"), seed=args.seed)
    feeder.start()
    losses, t0 = [], time.time()
    try:
        for step in range(1, steps + 1):
            x, y = feeder.next()
            losses.append(float(model.fit_batch(tf.constant(x), tf.constant(y))))
            if step % train.getint("report_every") == 0:
                log.info("step %d loss %.5f (%.1f s)", step, np.mean(losses), time.time() - t0)
                losses.clear()
            if step % train.getint("validate_every") == 0:
                log.info("step %d validation MAE %.1f cycles", step, validate(model, val_x, val_y))
    finally:
        feeder.stop()

    model_dir = args.model_dir or tempfile.mkdtemp(prefix="pump_rul_")
    model.net.save(os.path.join(model_dir, "rul.keras"))
    np.savez(os.path.join(model_dir, "scaling.npz"), mean=mean, std=std)
    log.info("model written to %s", model_dir)


if __name__ == "__main__":
    main()
