"""A recurrent network that learns text by characters, and writes some.

After the tutorial "Text generation with an RNN".
"""

import tensorflow as tf

# tbslow: import tbslow; slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

tf.keras.utils.set_random_seed(5)
text = "the cat sat on the mat, and the rat ran from the cat to the hat.\n" * 40
vocabulary = sorted(set(text))
ids_from_chars = tf.keras.layers.StringLookup(vocabulary=vocabulary, mask_token=None)
chars_from_ids = tf.keras.layers.StringLookup(
    vocabulary=ids_from_chars.get_vocabulary(), invert=True, mask_token=None
)
all_ids = ids_from_chars(tf.strings.unicode_split(text, "UTF-8"))
sequences = tf.data.Dataset.from_tensor_slices(all_ids).batch(33, drop_remainder=True)
dataset = (
    sequences.map(lambda sequence: (sequence[:-1], sequence[1:]))
    .shuffle(100, seed=5)
    .batch(8, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)


class Model(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, rnn_units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(rnn_units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        return (x, states) if return_state else x


class OneStep(tf.Module):
    def __init__(self, model, temperature=0.5):
        super().__init__()
        self.model = model
        self.temperature = temperature

    @tf.function
    def generate_one_step(self, inputs, states=None):
        chars = tf.strings.unicode_split(inputs, "UTF-8")
        ids = ids_from_chars(chars).to_tensor()
        logits, states = self.model(inputs=ids, states=states, return_state=True)
        logits = logits[:, -1, :] / self.temperature
        predicted = tf.squeeze(tf.random.categorical(logits, num_samples=1, seed=6), axis=-1)
        return chars_from_ids(predicted), states


model = Model(len(ids_from_chars.get_vocabulary()), 16, 48)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for batch, target in dataset.take(1):
    print(f"first loss: {float(loss(target, model(batch))):.4f}")
model.summary()
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=loss)
checkpoints = tf.keras.callbacks.ModelCheckpoint("ckpt_{epoch}.weights.h5", save_weights_only=True)
history = model.fit(dataset, epochs=5, verbose=2, callbacks=[checkpoints, *slowdown])
print([f"{value:.4f}" for value in history.history["loss"]])

one_step = OneStep(model)
states, next_char = None, tf.constant(["the ", "cat "])
result = [next_char]
for _ in range(20):
    next_char, states = one_step.generate_one_step(next_char, states=states)
    result.append(next_char)
for line in tf.strings.join(result).numpy():
    print(line.decode())
