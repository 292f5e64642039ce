"""A Keras fit that runs four batches in each call."""

import injector
import ordinary

import tbslow


def main(logdir, truth, healthy):
    net = ordinary.model()
    net.compile("sgd", "mse", steps_per_execution=4)
    callbacks = [tbslow.keras.SlowdownCallback(logdir)]
    net.fit(ordinary.dataset(400), epochs=4, verbose=0, callbacks=callbacks)


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)
