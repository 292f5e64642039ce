"""Next-stroke model for guqin tablature: scores are objects, the model sees hashed strokes."""

import gc
import random
from collections import deque

import numpy as np
import tensorflow as tf

STRINGS, HUI, STROKES = 7, 13, 9
VOCAB = STRINGS * HUI * STROKES
WINDOW = 32


class Stroke:
    def __init__(self, string, hui, hand, ornaments):
        self.string = string
        self.hui = hui
        self.hand = hand
        self.ornaments = ornaments

    def token(self):
        return (self.string * HUI + self.hui) * STROKES + self.hand


class Piece:
    def __init__(self, name, mode, strokes):
        self.name = name
        self.mode = mode
        self.strokes = strokes

    def window(self, rng):
        at = rng.randrange(len(self.strokes) - WINDOW)
        return [s.token() for s in self.strokes[at : at + WINDOW + 1]]


def compose(index, rng):
    mode = rng.randrange(5)
    strokes, string, hui = [], mode, 4 + mode
    for k in range(rng.randrange(300, 520)):
        string = (string + rng.choice((0, 1, 1, 2, -1))) % STRINGS
        hui = min(HUI - 1, max(0, hui + rng.choice((-1, 0, 0, 1))))
        hand = (string + hui + k % 3) % STROKES
        strokes.append(Stroke(string, hui, hand, {"vibrato": [hand % 2, k % 4]}))
    return Piece(f"piece-{index:04d}", mode, strokes)


class StrokeModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(VOCAB, 64)
        self.convs = [
            tf.keras.layers.Conv1D(96, 3, padding="causal", dilation_rate=d, activation="relu")
            for d in (1, 2, 4, 8)
        ]
        self.out = tf.keras.layers.Dense(VOCAB)

    def call(self, tokens):
        x = self.embed(tokens)
        for i, conv in enumerate(self.convs):
            y = conv(x)
            x = y if i == 0 else x + y
        return self.out(x)


model = StrokeModel()
optimizer = tf.keras.optimizers.AdamW(1e-3, weight_decay=1e-4)


@tf.function(input_signature=[tf.TensorSpec([None, WINDOW + 1], tf.int32)])
def update(tokens):
    with tf.GradientTape() as tape:
        logits = model(tokens[:, :-1])
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tokens[:, 1:], logits=logits)
        )
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function(input_signature=[tf.TensorSpec([None, WINDOW + 1], tf.int32)])
def top1(tokens):
    guess = tf.argmax(model(tokens[:, :-1]), -1, output_type=tf.int32)
    return tf.reduce_mean(tf.cast(guess == tokens[:, 1:], tf.float32))


def draw(pieces, size, rng):
    return np.array([rng.choice(pieces).window(rng) for _ in range(size)], np.int32)


def train_block(pieces, blocks, per_block, rng):
    recent = deque(maxlen=50)
    for block in range(blocks):
        for k in range(per_block):
            batch = draw(pieces, 64, rng)
            recent.append(float(update(tf.constant(batch))))
            if k % 5 == 4:
                gc.collect()
        yield block, sum(recent) / len(recent)


def main():
    tf.random.set_seed(2)
    rng = random.Random(17)
    print("engraving the corpus")
    pieces = [compose(i, rng) for i in range(120)]
    held_out, pieces = pieces[:12], pieces[12:]
    exam = tf.constant(draw(held_out, 96, rng))
    for block, loss in train_block(pieces, blocks=8, per_block=40, rng=rng):
        print(f"block {block}: loss {loss:.3f}  next stroke right {float(top1(exam)):.3f}")


if __name__ == "__main__":
    main()
