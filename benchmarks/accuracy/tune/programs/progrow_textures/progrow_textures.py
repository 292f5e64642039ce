"""Progressive growing of a small GAN for textures: 8, 16, then 32 pixels."""

import argparse
import json
import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf

from growing import Phase
from nets import Critic, Generator
from textures import dataset_at, woven_textures

CONFIG = {
    "base": 8,
    "latent": 32,
    "batch": 16,
    "lr": 1e-3,
    "r1": 1.0,
    "steps": [320, 280, 240],
    "images": 1200,
    "seed": 4,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", help="json file that overrides the defaults")
    parser.add_argument("--out")
    args = parser.parse_args()
    cfg = dict(CONFIG)
    if args.config:
        with open(args.config) as f:
            cfg.update(json.load(f))
    out = args.out or tempfile.mkdtemp(prefix="progrow_")
    keras.utils.set_random_seed(cfg["seed"])

    levels = len(cfg["steps"])
    images = woven_textures(cfg["images"], cfg["base"] * 2 ** (levels - 1), cfg["seed"])
    generator, critic = Generator(), Critic()
    fixed_z = tf.random.stateless_normal((16, cfg["latent"]), (1, 2))
    checkpoint = tf.train.Checkpoint(generator=generator, critic=critic)
    start = time.time()
    for level, steps in enumerate(cfg["steps"]):
        resolution = cfg["base"] * 2**level
        phase = Phase(level, generator, critic, cfg)

        def report(step, c_loss, g_loss):
            print(
                f"{resolution:3d}px step {step:4d}  critic {c_loss:.3f}  generator {g_loss:.3f}"
                f"  {time.time() - start:.1f}s",
                flush=True,
            )

        phase.run(dataset_at(images, resolution, cfg["batch"], cfg["seed"]), steps, report)
        np.save(
            os.path.join(out, f"samples_{resolution}.npy"),
            generator(fixed_z, level=level, alpha=phase.alpha),
        )
        checkpoint.write(os.path.join(out, f"level{level}"))


if __name__ == "__main__":
    main()
