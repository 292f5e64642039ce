"""Character level language model, truncated BPTT with the state carried between chunks."""

import math
import time

import numpy as np
import tensorflow as tf

SEQ_LEN = 25
BATCH = 32
CHUNKS = 44
EPOCHS = 3
UNITS = 192
EMBED = 48
CLIP = 5.0

NOUNS = "ship captain whale harbour sailor storm island lantern compass anchor".split()
VERBS = "watched followed feared carried found lost raised answered".split()
ADJ = "old grey silent broken northern patient heavy distant".split()


def synth_corpus(n_chars, rng):
    out, total = [], 0
    while total < n_chars:
        s = "the %s %s %s the %s %s" % (
            rng.choice(ADJ),
            rng.choice(NOUNS),
            rng.choice(VERBS),
            rng.choice(ADJ),
            rng.choice(NOUNS),
        )
        s += rng.choice([". ", "; ", ", and ", ".\n"])
        out.append(s)
        total += len(s)
    return "".join(out)[:n_chars]


class CharModel(tf.keras.Model):
    def __init__(self, vocab):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(vocab, EMBED)
        self.rnn = tf.keras.layers.GRU(UNITS, return_sequences=True, return_state=True)
        self.out = tf.keras.layers.Dense(vocab)

    def call(self, inputs):
        tokens, state = inputs
        h, state = self.rnn(self.embed(tokens), initial_state=state)
        return self.out(h), state


def chunk_batches(encoded):
    """Split the corpus in BATCH parallel streams and walk over them chunk by chunk."""
    streams = encoded[: BATCH * (CHUNKS * SEQ_LEN + 1)].reshape(BATCH, -1)
    for k in range(CHUNKS):
        lo = k * SEQ_LEN
        yield (
            tf.constant(streams[:, lo : lo + SEQ_LEN]),
            tf.constant(streams[:, lo + 1 : lo + SEQ_LEN + 1]),
        )


def sample(forward, stoi, itos, prompt, length, temperature=0.7):
    state = tf.zeros((1, UNITS))
    text = prompt
    logits, state = forward(tf.constant([[stoi[c] for c in prompt]]), state)
    for _ in range(length):
        nxt = int(tf.random.categorical(logits[:, -1] / temperature, 1)[0, 0])
        text += itos[nxt]
        logits, state = forward(tf.constant([[nxt]]), state)
    return text


def main():
    rng = np.random.default_rng(8)
    tf.keras.utils.set_random_seed(8)
    text = synth_corpus(BATCH * (CHUNKS * SEQ_LEN + 1), rng)
    itos = sorted(set(text))
    stoi = {c: i for i, c in enumerate(itos)}
    encoded = np.array([stoi[c] for c in text], "int32")
    print("corpus %d characters, vocabulary %d" % (len(text), len(itos)))

    model = CharModel(len(itos))
    optimizer = tf.keras.optimizers.Adam(2e-3)

    @tf.function(reduce_retracing=True)
    def forward(tokens, state):
        return model((tokens, state))

    step = 0
    started = time.time()
    for epoch in range(EPOCHS):
        state = tf.zeros((BATCH, UNITS))
        losses = []
        with tf.GradientTape(persistent=True) as tape:
            for x, y in chunk_batches(encoded):
                logits, state = forward(x, state)
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
                )
                with tape.stop_recording():
                    grads = tape.gradient(loss, model.trainable_variables)
                    grads, _ = tf.clip_by_global_norm(grads, CLIP)
                    optimizer.apply_gradients(zip(grads, model.trainable_variables))
                losses.append(float(loss))
                step += 1
                if step % 30 == 0:
                    print(
                        "epoch %d step %4d loss %.4f (%.1f s)"
                        % (epoch, step, np.mean(losses[-30:]), time.time() - started)
                    )
        print("epoch %d: %.3f bits per character" % (epoch, np.mean(losses) / math.log(2)))
    print("training took %.1f s" % (time.time() - started))
    print(sample(forward, stoi, itos, "the old ", 80))


if __name__ == "__main__":
    main()
