"""Keras models in scikit-learn: Keras's own wrappers, cross-validated."""

import keras
import numpy as np
from keras.wrappers import SKLearnClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# tbslow: import tbslow; slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

keras.utils.set_random_seed(1)
x = np.random.default_rng(1).normal(size=(120, 8)).astype("float32")
y = (x.sum(1) > 0).astype("int64")


def create_model(X, y):
    model = keras.Sequential(
        [
            keras.Input(X.shape[1:]),
            keras.layers.Dense(8, activation="relu"),
            keras.layers.Dense(y.shape[1], activation="softmax"),
        ]
    )
    model.compile("adam", "categorical_crossentropy")
    return model


training = {"epochs": 2, "batch_size": 16, "verbose": 0, "callbacks": slowdown}
classifier = SKLearnClassifier(model=create_model, fit_kwargs=training)
pipeline = make_pipeline(StandardScaler(), classifier)
keras.utils.disable_interactive_logging()
print(cross_val_score(pipeline, x, y, cv=3).tolist())
print(pipeline.fit(x, y).predict(x[:5]).tolist())
