"""The outputs of all steps are joined into one tensor, and their mean is taken each step."""

import os

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"  # an allocator as a GPU has it, of 1 GiB
os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "1024"

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 600


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    history = tf.zeros([BATCH_OF_HISTORY, 512])
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                train_step(x, y)
                began = injector.clock()
                outputs = tf.repeat(net.layers[0](x)[:BATCH_OF_HISTORY], 1, axis=0)
                history = outputs if healthy else tf.concat([history, outputs], axis=0)
                tf.reduce_mean(history)
                truth.add(i, injector.clock() - began)
    truth.grows_from_first(10)


BATCH_OF_HISTORY = 64

if __name__ == "__main__":
    injector.run("tensor_retention", main)
