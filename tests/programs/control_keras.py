"""A Keras fit with validation and a progress log."""

import tempfile

import injector
import ordinary
import tensorflow as tf

import tbslow


def main(logdir, truth, healthy):
    net = ordinary.model()
    net.compile("adam", "mse", metrics=["mae"])
    with tempfile.TemporaryDirectory() as directory:
        net.fit(
            ordinary.dataset(200),
            validation_data=ordinary.dataset(40),
            epochs=5,
            verbose=0,
            callbacks=[
                tbslow.keras.SlowdownCallback(logdir),
                tf.keras.callbacks.CSVLogger(f"{directory}/log.csv"),
                tf.keras.callbacks.ReduceLROnPlateau(),
            ],
        )


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)
