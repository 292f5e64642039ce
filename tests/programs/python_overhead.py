"""The mean reward of all episodes so far is summed up in Python each step."""

import injector
import ordinary

import tbslow

STEPS = 600


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    rewards = []
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
                rewards.extend(float(k) for k in range(3000))
                began = injector.clock()
                sum(rewards[-3000:] if healthy else rewards)
                truth.add(i, injector.clock() - began)
    truth.grows_from_first(10)


if __name__ == "__main__":
    injector.run("python_overhead", main)
