"""Message passing over a city's pneumatic tube network: where will capsules jam?
Alternates between the jam head and the delay head, then trains both together."""

import time

import numpy as np
import tensorflow as tf

from tubes.network import TubeCity
from tubes.shift import shifts
from tubes.model import TubeNet
from tubes.training import AlternatingTrainer
from tubes.conf import Conf


def main():
    conf = Conf()
    tf.keras.utils.set_random_seed(conf.seed)
    city = TubeCity(conf.stations, conf.seed)
    x, jam, delay = shifts(city, conf.snapshots, conf.seed + 1)
    cut = conf.snapshots * 9 // 10
    train = tf.data.Dataset.from_tensor_slices((x[:cut], jam[:cut], delay[:cut]))
    train = train.shuffle(cut, seed=conf.seed).batch(conf.batch, drop_remainder=True).prefetch(2)
    held = tuple(tf.constant(a[cut:]) for a in (x, jam, delay))

    model = TubeNet(city, conf)
    trainer = AlternatingTrainer(model, conf)
    t0 = time.time()
    for epoch, phase in enumerate(conf.phases):
        loss = trainer.run_epoch(train, phase)
        j, d = trainer.test(*held)
        print(
            f"epoch {epoch:2d} {phase:<6s} loss {loss:7.4f}  jam acc {j:.3f}  delay mae {d:.3f}"
            f"  {time.time() - t0:5.1f}s"
        )
    print("updates:", int(trainer.optimizer.iterations))


if __name__ == "__main__":
    main()
