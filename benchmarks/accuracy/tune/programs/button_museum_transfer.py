# Buttons of the costume museum: reuse a shape classifier for material recognition.
# stage 0 trains the backbone on plenty of drawn shapes, stage 1 fits a head on
# frozen features, stage 2 fine-tunes everything with a small learning rate.
import os
import tempfile

import numpy as np
import keras
from keras import layers

SIDE = 40
SHAPES, MATERIALS = 6, 4


def draw(n, seed, by_material):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    shape = rng.integers(0, SHAPES, n)
    material = rng.integers(0, MATERIALS, n)
    x = np.empty((n, SIDE, SIDE, 3), "float32")
    for i in range(n):
        cy, cx = rng.uniform(16, 24, 2)
        dy, dx = yy - cy, xx - cx
        rad = 12 + 2 * np.cos((shape[i] + 2) * np.arctan2(dy, dx))
        disc = np.hypot(dy, dx) < rad
        for h in range(2 + shape[i] % 3):
            a = 2 * np.pi * h / (2 + shape[i] % 3)
            disc &= np.hypot(dy - 4 * np.sin(a), dx - 4 * np.cos(a)) > 1.4
        grain = [
            np.sin(xx * 1.3),
            np.sin(np.hypot(dy, dx)),
            rng.normal(0, 0.9, (SIDE, SIDE)),
            (dy + dx) / 20.0,
        ][material[i]]
        tone = rng.uniform(0.3, 0.7, 3)
        x[i] = 0.95
        x[i][disc] = (tone + 0.2 * grain[..., None])[disc]
        x[i] += rng.normal(0, 0.02, x[i].shape)
    return x, (material if by_material else shape).astype("int32")


def backbone():
    inp = keras.Input((SIDE, SIDE, 3))
    x = inp
    for f in (24, 48, 64):
        x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.ReLU()(x)
        x = layers.MaxPooling2D()(x)
    return keras.Model(inp, layers.GlobalAveragePooling2D()(x), name="backbone")


def compiled(model, lr):
    model.compile(
        keras.optimizers.Adam(lr), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    return model


def main():
    keras.utils.set_random_seed(13)
    base = backbone()

    print("stage 0: shapes")
    x, y = draw(2400, 0, by_material=False)
    shapes = compiled(keras.Sequential([base, layers.Dense(SHAPES, activation="softmax")]), 2e-3)
    shapes.fit(x, y, batch_size=32, epochs=4, verbose=2)

    x, y = draw(1200, 1, by_material=True)
    xv, yv = draw(400, 2, by_material=True)
    with tempfile.TemporaryDirectory() as tmp:
        best = os.path.join(tmp, "best.weights.h5")
        keep = keras.callbacks.ModelCheckpoint(
            best, monitor="val_accuracy", save_best_only=True, save_weights_only=True
        )

        print("stage 1: head on frozen features")
        base.trainable = False
        inp = keras.Input((SIDE, SIDE, 3))
        feat = base(inp)
        out = layers.Dense(MATERIALS, activation="softmax")(
            layers.Dropout(0.2)(layers.Dense(64, activation="relu")(feat))
        )
        model = compiled(keras.Model(inp, out), 3e-3)
        model.fit(
            x, y, batch_size=32, epochs=6, validation_data=(xv, yv), callbacks=[keep], verbose=2
        )

        print("stage 2: everything")
        base.trainable = True
        compiled(model, 3e-4)
        model.fit(
            x,
            y,
            batch_size=32,
            epochs=8,
            validation_data=(xv, yv),
            verbose=2,
            callbacks=[
                keep,
                keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=2, factor=0.5),
            ],
        )
        model.load_weights(best)
    print("material accuracy %.3f" % model.evaluate(xv, yv, verbose=0)[1])


if __name__ == "__main__":
    main()
