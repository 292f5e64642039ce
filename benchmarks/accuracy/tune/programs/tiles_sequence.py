"""Satellite tiles from .npz files, turned and blurred in a keras Sequence."""

import os

import keras
import numpy as np
from keras import layers

os.makedirs("tiles", exist_ok=True)
for n in range(60):
    rs = np.random.RandomState(n)
    tile = rs.rand(16, 48, 48, 3).astype("float32")
    np.savez_compressed(f"tiles/{n:03d}.npz", x=tile, y=rs.randint(0, 5, 16))


class Tiles(keras.utils.PyDataset):
    def __init__(self, files, **kwargs):
        super().__init__(**kwargs)
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with np.load(self.files[index]) as data:
            x, y = data["x"], data["y"]
        out = []
        for image in x:
            image = np.rot90(image, np.random.randint(4))
            for _ in range(12):
                image = (image + np.roll(image, 1, 0) + np.roll(image, 1, 1)) / 3
            out.append(np.clip(image + np.random.normal(0, 0.05, image.shape), 0, 1))
        return np.stack(out).astype("float32"), y


files = [os.path.join("tiles", f) for f in sorted(os.listdir("tiles"))]
net = keras.Sequential(
    [
        keras.Input((48, 48, 3)),
        layers.Conv2D(8, 5, strides=4, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(5, activation="softmax"),
    ]
)
net.compile(optimizer="rmsprop", loss="sparse_categorical_crossentropy")
net.fit(Tiles(files), epochs=10, verbose=2)
