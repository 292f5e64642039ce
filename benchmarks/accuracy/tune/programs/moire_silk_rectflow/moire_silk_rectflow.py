"""Rectified flow over moire silk swatches, written on plain tf.Module."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf

from weave.swatches import swatches
from weave.mixer import SwatchMixer
from weave.loop import RectifiedFlow

SEED = 23
STEPS = 160
BATCH = 96
SHOW = 40


def lr_at(step):
    warm = min(1.0, (step + 1) / 30)
    return 1.5e-3 * warm * 0.5 * (1 + np.cos(np.pi * step / STEPS))


def main():
    tf.random.set_seed(SEED)
    np.random.seed(SEED)
    data = tf.constant(swatches(6000, 16, SEED))
    net = SwatchMixer(side=16, patch=2, width=96, depth=4)
    flow = RectifiedFlow(net, tuple(data.shape[1:]), BATCH)
    out = tempfile.mkdtemp(prefix="silk_")
    t0 = time.time()
    seen = []
    for step in range(STEPS):
        seen.append(flow.update(data, tf.constant(lr_at(step), tf.float32)))
        if (step + 1) % SHOW == 0:
            mean = float(tf.reduce_mean(tf.stack(seen[-SHOW:])))
            sheet = flow.sample()
            print(
                f"{step + 1:4d}  loss {mean:.4f}  sample std {float(tf.math.reduce_std(sheet)):.3f}"
                f"  {time.time() - t0:5.1f}s",
                flush=True,
            )
    np.save(os.path.join(out, "sheet.npy"), flow.sample().numpy())
    print("last sheet written")


if __name__ == "__main__":
    main()
