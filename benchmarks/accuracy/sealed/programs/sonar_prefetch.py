"""What made that noise under water? Spectrograms of shifted and noisy pings, straight into fit."""

import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
SAMPLES, BATCH, CLIPS, EPOCHS = 4096, 48, 1920, 7
KINDS = 6
tf.random.set_seed(88)


def make_clip(number):
    """A whale, a propeller, shrimps and so on, from the number alone."""
    seed = tf.stack([number, 7])
    kind = tf.cast(number % KINDS, tf.float32)
    t = tf.linspace(0.0, 1.0, SAMPLES)
    u = tf.random.stateless_uniform([3], seed)
    sweep = 60.0 + 90.0 * kind + 40.0 * u[0]
    tone = tf.sin(6.2832 * (sweep * t + (50.0 + 100.0 * u[1]) * t * t))
    pulse = tf.sigmoid(12.0 * tf.sin(6.2832 * (3.0 + kind) * (t + u[2])))
    return tone * pulse, tf.cast(number % KINDS, tf.int32)


def augment(clip, kind):
    clip = tf.roll(clip, tf.random.uniform([], 0, SAMPLES, tf.int32), 0)
    loud = tf.random.uniform([], 0.3, 1.0)
    return loud * clip + 0.4 * tf.random.normal([SAMPLES]), kind


def spectrogram(clip, kind):
    spectrum = tf.abs(tf.signal.stft(clip, 256, 64, 256))
    picture = tf.math.log(spectrum[:60, :96] + 1e-2)
    return picture[..., None], kind


clips = tf.data.Dataset.range(CLIPS).map(make_clip, num_parallel_calls=AUTOTUNE).cache()
train = (
    clips.shuffle(CLIPS)
    .map(augment, num_parallel_calls=AUTOTUNE)
    .map(spectrogram, num_parallel_calls=AUTOTUNE)
    .batch(BATCH, drop_remainder=True)
    .prefetch(AUTOTUNE)
)
valid = clips.take(192).map(spectrogram).batch(96).cache()


def classifier():
    inputs = tf.keras.Input((60, 96, 1))
    x = tf.keras.layers.Conv2D(24, 5, strides=2, activation="relu")(inputs)
    x = tf.keras.layers.SeparableConv2D(48, 3, activation="relu")(x)
    x = tf.keras.layers.MaxPooling2D()(x)
    x = tf.keras.layers.Conv2D(64, 3, activation="relu")(x)
    x = tf.keras.layers.MaxPooling2D()(x)
    x = tf.keras.layers.Conv2D(96, 3, activation="relu")(x)
    x = tf.keras.layers.GlobalMaxPooling2D()(x)
    x = tf.keras.layers.Dropout(0.3)(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(KINDS)(x))


model = classifier()
model.compile(
    optimizer=tf.keras.optimizers.Adam(
        tf.keras.optimizers.schedules.ExponentialDecay(2e-3, CLIPS // BATCH, 0.85)
    ),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train, epochs=EPOCHS, validation_data=valid, validation_freq=3, verbose=2)
model.save("sonar.keras")
