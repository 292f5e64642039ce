"""Which kingdom wrote this blazon?  A small hand-made search over text models.

Three candidates are fitted one after another (early stopping); the best is
fitted on with a bigger batch.
"""

import itertools
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

TINCTURES = "or argent gules azure sable vert purpure tenne ermine vair".split()
CHARGES = "lion eagle chevron bend fess cross mullet crescent martlet rose billet tower".split()
POSTURES = "rampant passant displayed couped engrailed wavy invected statant".split()
FILLER = "a on between three two in chief base of the field and within bordure".split()
KINGDOMS = 4
MAXLEN = 48


def write_blazons(n, rng):
    vocab = [TINCTURES, CHARGES, POSTURES, FILLER]
    habits = [[rng.dirichlet(np.full(len(v), 0.9)) for v in vocab] for _ in range(KINGDOMS)]
    label = rng.integers(0, KINGDOMS, n)
    texts = []
    for k in label:
        words = []
        for _ in range(rng.integers(5, 12)):
            for part in (3, 1, 2, 0):
                mixed = 0.3 * habits[k][part] + 0.7 / len(vocab[part])
                words.append(vocab[part][rng.choice(len(mixed), p=mixed)])
        texts.append(" ".join(words))
    return np.array(texts), label.astype("int32")


def encode(texts):
    vectorize = layers.TextVectorization(max_tokens=64, output_sequence_length=MAXLEN)
    vectorize.adapt(texts)
    return vectorize(texts).numpy(), vectorize.vocabulary_size()


def build(vocab, width, kernel):
    inp = keras.Input((MAXLEN,), dtype="int32")
    x = layers.Embedding(vocab, width)(inp)
    for _ in range(2):
        x = layers.Conv1D(width, kernel, padding="same", activation="relu")(x)
    x = layers.Dropout(0.2)(x)
    x = layers.Concatenate()([layers.GlobalMaxPooling1D()(x), layers.GlobalAveragePooling1D()(x)])
    x = layers.Dense(64, activation="relu")(x)
    return keras.Model(inp, layers.Dense(KINGDOMS)(x), name=f"w{width}_k{kernel}")


def fit(model, train, val, batch, epochs, rate):
    model.compile(
        keras.optimizers.Adam(rate),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        jit_compile=False,
    )
    stop = keras.callbacks.EarlyStopping(
        monitor="val_accuracy", patience=2, restore_best_weights=True
    )
    feed = (
        tf.data.Dataset.from_tensor_slices(train)
        .cache()
        .shuffle(len(train[1]), seed=6)
        .batch(batch, drop_remainder=True)
        .prefetch(2)
    )
    hist = model.fit(
        feed, validation_data=val.batch(320).cache(), epochs=epochs, callbacks=[stop], verbose=0
    )
    return hist.history


def main():
    keras.utils.set_random_seed(1066)
    rng = np.random.default_rng(1066)
    texts, y = write_blazons(4200, rng)
    ids, vocab = encode(texts)
    ids = ids.astype("int32")
    train = (ids[:3200], y[:3200])
    val = tf.data.Dataset.from_tensor_slices((ids[3200:3840], y[3200:3840]))
    test = (ids[3840:], y[3840:])

    begin, results = time.time(), []
    for width, kernel in itertools.islice(itertools.product((96, 160), (3, 7)), 3):
        keras.utils.set_random_seed(width + kernel)
        t0 = time.time()
        model = build(vocab, width, kernel)
        hist = fit(model, train, val, batch=64, epochs=4, rate=1e-3)
        score = max(hist["val_accuracy"])
        results.append((score, model))
        print(
            f"{model.name:8s} params {model.count_params():7d} epochs {len(hist['loss'])} "
            f"val acc {score:.3f} ({time.time() - t0:.1f}s)"
        )
    score, best = max(results, key=lambda r: r[0])
    print("best:", best.name)
    hist = fit(best, train, val, batch=128, epochs=3, rate=5e-4)
    print(f"longer fit val acc {max(hist['val_accuracy']):.3f}")
    print(f"train {time.time() - begin:.2f}s")
    print("test", best.evaluate(*test, batch_size=360, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
