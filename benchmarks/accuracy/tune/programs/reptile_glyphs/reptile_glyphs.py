#!/usr/bin/env python
"""Few-shot glyph classification with Reptile.

python reptile_glyphs.py --ways 5 --shots 5
"""

import argparse
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import keras
import numpy as np

from networks import conv_classifier
from reptile import Reptile
from tasks import GlyphBank, TaskSampler

log = logging.getLogger("reptile")


@dataclass
class Config:
    inner_lr: float = 2e-3
    inner_batch: int = 20
    inner_steps: int = 20
    eval_inner_steps: int = 20
    meta_lr: float = 1.0
    meta_batch: int = 2


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--meta-iters", type=int, default=16)
    p.add_argument("--ways", type=int, default=5)
    p.add_argument("--shots", type=int, default=5)
    p.add_argument("--queries", type=int, default=10)
    p.add_argument("--eval-every", type=int, default=8)
    p.add_argument("--eval-tasks", type=int, default=3)
    p.add_argument("--seed", type=int, default=7)
    p.add_argument("--out", default=None)
    return p.parse_args()


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    keras.utils.set_random_seed(args.seed)
    cfg = Config()

    bank = GlyphBank(120, seed=args.seed)
    train = TaskSampler(bank, range(0, 90), args.ways, args.shots, args.queries, args.seed)
    held_out = TaskSampler(bank, range(90, 120), args.ways, args.shots, args.queries, args.seed + 1)
    eval_tasks = [held_out.sample() for _ in range(args.eval_tasks)]

    net = conv_classifier(bank.size, args.ways)
    learner = Reptile(net, cfg, seed=args.seed)
    out_dir = args.out or tempfile.mkdtemp(prefix="reptile_")
    log.info("%d parameters, results go to %s", net.count_params(), out_dir)

    started = time.time()
    for it in range(1, args.meta_iters + 1):
        meta_lr = cfg.meta_lr * (1.0 - (it - 1) / args.meta_iters)
        loss = learner.meta_update([train.sample() for _ in range(cfg.meta_batch)], meta_lr)
        if it % 2 == 0:
            log.info(
                "iter %3d  inner steps %5d  inner loss %.4f  %.1fs",
                it,
                learner.inner_steps_done,
                loss,
                time.time() - started,
            )
        if it % args.eval_every == 0:
            log.info("iter %3d  held-out accuracy %.3f", it, learner.evaluate(eval_tasks))

    net.save_weights(os.path.join(out_dir, "glyph_net.weights.h5"))
    np.save(os.path.join(out_dir, "seed.npy"), args.seed)


if __name__ == "__main__":
    main()
