"""A model with its own `compile`, `train_step` and `test_step`, trained by `fit`.

After the guide "Customizing what happens in fit()".
"""

import keras
import tensorflow as tf

# tbslow: import tbslow; slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

keras.utils.set_random_seed(2)


class Regression(keras.Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    def compile(self, optimizer, clip):
        super().compile(optimizer=optimizer)
        self.clip = clip

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            loss = tf.reduce_mean(tf.square(y - predicted))
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients, norm = tf.clip_by_global_norm(gradients, self.clip)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.loss_tracker.update_state(loss)
        self.mae.update_state(y, predicted)
        return {**{metric.name: metric.result() for metric in self.metrics}, "norm": norm}

    def test_step(self, data):
        x, y = data
        predicted = self(x, training=False)
        self.loss_tracker.update_state(tf.reduce_mean(tf.square(y - predicted)))
        self.mae.update_state(y, predicted)
        return {metric.name: metric.result() for metric in self.metrics}


class PrintNorm(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 8 == 0:
            print(f"batch {batch}: loss {logs['loss']:.5f}, norm {logs['norm']:.5f}")


x = tf.random.stateless_uniform((512, 16), (1, 2))
y = tf.reduce_sum(x, 1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=3).batch(32).prefetch(2)

inputs = keras.Input((16,))
hidden = keras.layers.Dense(32, activation="relu")(inputs)
model = Regression(inputs, keras.layers.Dense(1)(hidden))
model.compile(keras.optimizers.SGD(0.01, momentum=0.9), clip=1.0)
history = model.fit(
    dataset, validation_data=dataset, epochs=3, verbose=2, callbacks=[PrintNorm(), *slowdown]
)
for name, values in history.history.items():
    print(name, [f"{float(value):.5f}" for value in values])
results = model.evaluate(dataset, return_dict=True, verbose=0)
print({name: f"{float(value):.5f}" for name, value in results.items()})
