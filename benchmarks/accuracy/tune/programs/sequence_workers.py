"""A PyDataset with two workers that is quick enough for its model."""

import keras
import numpy as np


class Windows(keras.utils.PyDataset):
    def __init__(self, series, size, batch, **kwargs):
        super().__init__(**kwargs)
        self.series, self.size, self.batch = series, size, batch

    def __len__(self):
        return 250

    def __getitem__(self, index):
        at = np.random.randint(0, len(self.series) - self.size - 1, self.batch)
        rows = self.series[at[:, None] + np.arange(self.size + 1)]
        return rows[:, :-1, None], rows[:, -1]


series = np.sin(np.arange(50_000) / 30).astype("float32")
model = keras.Sequential(
    [
        keras.Input((64, 1)),
        keras.layers.Conv1D(32, 7, activation="relu", padding="causal"),
        keras.layers.Conv1D(32, 7, activation="relu", padding="causal", dilation_rate=4),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(1e-3), keras.losses.Huber())
model.fit(Windows(series, 64, 64, workers=2, max_queue_size=20), epochs=5, verbose=2)
