"""Conditional normalizing flow for dye tracer breakthrough in glacier moulins."""

import argparse
import time

import numpy as np
import tensorflow as tf

from tracer.data import make_moulins, Batches
from tracer.flow import TracerFlow
from tracer.plan import Itinerary
from tracer.fitting import Fitter


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--couplings", type=int, default=6)
    ap.add_argument("--seed", type=int, default=41)
    return ap.parse_args()


def main():
    args = parse()
    np.random.seed(args.seed)
    tf.random.set_seed(args.seed)

    curves, context = make_moulins(7680, seed=args.seed)
    held = 768
    train = Batches(curves[held:], context[held:], args.batch, seed=args.seed + 1)
    flow = TracerFlow(curves.shape[1], context.shape[1], n_couplings=args.couplings)
    fitter = Fitter(flow, lr=8e-4)
    plan = Itinerary(args.epochs)

    valid = (tf.constant(curves[:held]), tf.constant(context[:held]))
    t0 = time.time()
    for epoch in range(args.epochs):
        regime = plan.at(epoch)
        nll = fitter.epoch(train, regime)
        if epoch % 3 == 2:
            v = float(fitter.nll(*valid))
            print(
                f"[{time.time() - t0:6.1f}s] epoch {epoch:2d} {regime.label:<8s} "
                f"train {nll:8.3f}  valid {v:8.3f}"
            )
    sample = flow.draw(valid[1][:5])
    print("first arrival (sample):", np.argmax(sample.numpy(), axis=1))


if __name__ == "__main__":
    main()
