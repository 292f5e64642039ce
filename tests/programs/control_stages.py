"""A curriculum whose stages are told as kinds of steps, each slower than the one before."""

import injector
import ordinary

import tbslow

STEPS = 600


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    rows, labels = ordinary.samples(4)
    with tbslow.start(logdir):
        for i in range(STEPS):
            stage = i // 200
            size = 128 * (stage + 1)
            with tbslow.summary.step(kind=f"stage {stage}"):
                train_step(rows[:size], labels[:size])


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)
