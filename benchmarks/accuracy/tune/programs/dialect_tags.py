"""Tag dialect words in transcripts of very different lengths; checked every 100 steps."""

import numpy as np
import tensorflow as tf

WORDS, TAGS = 3000, 9
STEPS = 900
BOUNDS = [12, 20, 32, 48]
SIZES = [96, 64, 48, 32, 16]


def transcripts(n, seed):
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(2.8, 0.6, n), 4, 80).astype(np.int64)
    total = int(lengths.sum())
    word = np.minimum(rng.zipf(1.3, total), WORDS - 1).astype(np.int32)
    before = np.concatenate([[0], word[:-1]])
    tag = np.where(before % 3 == 0, word % TAGS, (word + before) % TAGS).astype(np.int32)
    noise = rng.random(total) < 0.05
    tag[noise] = rng.integers(0, TAGS, noise.sum())
    return (
        tf.RaggedTensor.from_row_lengths(word, lengths),
        tf.RaggedTensor.from_row_lengths(tag, lengths),
    )


def dataset(n, seed, repeat):
    ds = tf.data.Dataset.from_tensor_slices(transcripts(n, seed))
    ds = ds.map(lambda w, t: (w, t)).cache()
    if repeat:
        ds = ds.shuffle(2000, seed=seed).repeat()
    return ds.bucket_by_sequence_length(
        lambda w, t: tf.shape(w)[0],
        BOUNDS,
        SIZES,
        padded_shapes=([None], [None]),
        padding_values=(0, -1),
    ).prefetch(4)


class Tagger(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(WORDS, 48)
        self.left = tf.keras.layers.Conv1D(96, 3, padding="same", activation="relu")
        self.rnn = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(48, return_sequences=True))
        self.out = tf.keras.layers.Dense(TAGS)

    def call(self, words):
        h = self.left(self.embed(words))
        return self.out(self.rnn(h))


SPEC = [tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None, None), tf.int32)]


class Session:
    def __init__(self):
        self.model = Tagger()
        self.opt = tf.keras.optimizers.Adam(2e-3)
        self.model(tf.zeros((2, 5), tf.int32))
        self.opt.build(self.model.trainable_variables)

    @tf.function(input_signature=SPEC)
    def train(self, words, tags):
        real = tf.cast(tags >= 0, tf.float32)
        with tf.GradientTape() as tape:
            logits = self.model(words)
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=tf.maximum(tags, 0), logits=logits
            )
            loss = tf.reduce_sum(each * real) / tf.reduce_sum(real)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    @tf.function(input_signature=SPEC)
    def count(self, words, tags):
        guess = tf.argmax(self.model(words), -1, output_type=tf.int32)
        real = tags >= 0
        return (
            tf.reduce_sum(tf.cast((guess == tags) & real, tf.int32)),
            tf.reduce_sum(tf.cast(real, tf.int32)),
        )


def main():
    tf.keras.utils.set_random_seed(12)
    session = Session()
    held_out = dataset(250, 1, False)
    tokens = 0
    for step, (words, tags) in enumerate(dataset(6000, 0, True).take(STEPS), 1):
        loss = session.train(words, tags)
        tokens += int(tf.size(words))
        if step % 100 == 0:
            counts = [session.count(w, t) for w, t in held_out]
            right, total = sum(int(c[0]) for c in counts), sum(int(c[1]) for c in counts)
            print(f"{step}: loss {float(loss):.3f} held out {right / total:.3f} tokens {tokens}")


if __name__ == "__main__":
    main()
