"""A large replay memory of Python objects, and a `gc.collect()` every 40 steps."""

import gc

import injector
import ordinary

import tbslow

STEPS = 600


def main(logdir, truth, healthy):
    memory = [{"state": [i, i + 1], "reward": float(i)} for i in range(300_000)]
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y * memory[i]["reward"])
                if i % 40 == 39 and not healthy:
                    with truth.part(i):
                        gc.collect()


if __name__ == "__main__":
    injector.run("garbage_collection", main)
