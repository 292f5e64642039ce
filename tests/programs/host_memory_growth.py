"""Every batch is kept in a list as a NumPy copy: RAM fills up, though no step gets slower."""

import injector
import ordinary

import tbslow

STEPS = 600


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    kept = []
    with tbslow.start(logdir):
        for x, y in tbslow.data(ordinary.dataset(STEPS)):
            with tbslow.summary.step():
                train_step(x, y)
                if not healthy:
                    kept.append(x.numpy().copy())


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)
