"""Character language model on generated verse, trained with longer and longer context."""

from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf


@dataclass
class Stage:
    context: int
    steps: int


@dataclass
class Config:
    vocab: int = 160
    dim: int = 96
    heads: int = 4
    blocks: int = 2
    batch: int = 32
    learning_rate: float = 1e-3
    report_every: int = 40
    stages: list = field(
        default_factory=lambda: [Stage(16, 160), Stage(32, 160), Stage(64, 120), Stage(128, 80)]
    )


SUBJECTS = "moon river wind stone bird rose winter sailor garden star".split()
VERBS = "sings sleeps wanders burns falls waits dreams returns".split()
ENDINGS = "alone again in silver light|beyond the hill|without a sound|till morning".split("|")


def make_corpus(n_lines, seed):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n_lines):
        s, v, e = rng.choice(SUBJECTS), rng.choice(VERBS), rng.choice(ENDINGS)
        lines.append(f"the {s} {v} {e}\n")
    return "".join(lines)


class Block(tf.keras.layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = tf.keras.layers.LayerNormalization()
        self.norm2 = tf.keras.layers.LayerNormalization()
        self.attention = tf.keras.layers.MultiHeadAttention(heads, dim // heads)
        self.up = tf.keras.layers.Dense(4 * dim, activation="gelu")
        self.down = tf.keras.layers.Dense(dim)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.norm2(x)))


class LanguageModel(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.tokens = tf.keras.layers.Embedding(cfg.vocab, cfg.dim)
        self.places = tf.keras.layers.Embedding(max(s.context for s in cfg.stages), cfg.dim)
        self.blocks = [Block(cfg.dim, cfg.heads) for _ in range(cfg.blocks)]
        self.norm = tf.keras.layers.LayerNormalization()
        self.out = tf.keras.layers.Dense(cfg.vocab)

    def call(self, ids):
        x = self.tokens(ids) + self.places(tf.range(tf.shape(ids)[1]))
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x))


class Trainer:
    def __init__(self, cfg, text):
        self.cfg = cfg
        chars = sorted(set(text))
        index = {c: i for i, c in enumerate(chars)}
        self.data = np.array([index[c] for c in text], np.int32)
        self.model = LanguageModel(cfg)
        self.optimizer = tf.keras.optimizers.AdamW(cfg.learning_rate, weight_decay=0.01)

    def windows(self, context, steps, seed):
        rng = np.random.default_rng(seed)
        grid = np.arange(context + 1)
        for _ in range(steps):
            starts = rng.integers(0, len(self.data) - context - 1, size=self.cfg.batch)
            yield tf.constant(self.data[starts[:, None] + grid])

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def train_step(self, ids):
        with tf.GradientTape() as tape:
            logits = self.model(ids[:, :-1])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids[:, 1:], logits=logits)
            )
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def run(self):
        step = 0
        for k, stage in enumerate(self.cfg.stages):
            window = []
            for ids in self.windows(stage.context, stage.steps, seed=k):
                window.append(self.train_step(ids))
                step += 1
                if step % self.cfg.report_every == 0:
                    mean = float(tf.reduce_mean(tf.stack(window)))
                    window.clear()
                    print(
                        f"step {step:4d}  context {stage.context:3d}  "
                        f"loss {mean:.4f}  perplexity {np.exp(mean):.2f}"
                    )


def main():
    tf.keras.utils.set_random_seed(21)
    Trainer(Config(), make_corpus(6000, 21)).run()


if __name__ == "__main__":
    main()
