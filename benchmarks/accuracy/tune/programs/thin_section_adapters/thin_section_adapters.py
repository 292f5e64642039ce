"""Mineral naming on rock thin sections: frozen texture trunk, small trainable neck
on top, proxies trained contrastively (ProxyNCA style)."""

import argparse
import time

import numpy as np
import tensorflow as tf

from petro.slides import SlideBox, stream
from petro.networks import build_trunk, build_neck, Proxies
from petro.trainers import ProxyTrainer


def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--steps", type=int, default=130)
    ap.add_argument("--batch", type=int, default=48)
    ap.add_argument("--minerals", type=int, default=7)
    ap.add_argument("--seed", type=int, default=19)
    opts = ap.parse_args(argv)

    np.random.seed(opts.seed)
    tf.keras.utils.set_random_seed(opts.seed)

    box = SlideBox(opts.minerals, side=48, seed=opts.seed)
    x, y = box.cut(1200)
    xv, yv = box.cut(192)
    trunk = build_trunk(48)
    trunk.trainable = False
    neck = build_neck(trunk.output_shape[1:], dim=64)
    proxies = Proxies(opts.minerals, 64)
    trainer = ProxyTrainer(trunk, neck, proxies, lr=2e-3)

    t0 = time.time()
    for i, (xb, yb) in enumerate(stream(x, y, opts.batch, opts.seed).take(opts.steps)):
        loss = trainer.step(xb, yb)
        if (i + 1) % 26 == 0:
            acc = trainer.accuracy(tf.constant(xv), tf.constant(yv))
            print(
                f"step {i + 1:4d}  loss {float(loss):.3f}  holdout {float(acc):.3f}  {time.time() - t0:5.1f}s"
            )
    print("neck parameters:", neck.count_params(), " trunk:", trunk.count_params())


if __name__ == "__main__":
    main()
