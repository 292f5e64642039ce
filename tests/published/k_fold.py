"""K-fold cross-validation: a new model in each fold, and the mean of the scores.

After the many tutorials on Keras models and k-fold cross-validation.
"""

import numpy as np
import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs"); slowdown = [tbslow.keras.SlowdownCallback("logs")]
slowdown = []

FOLDS, EPOCHS = 3, 2
rng = np.random.RandomState(8)
data = rng.normal(size=(120, 13)).astype("float32")
targets = (data @ rng.normal(size=(13, 1)) + 20).astype("float32")


def build_model():
    model = tf.keras.models.Sequential(
        [
            tf.keras.layers.Dense(16, activation="relu", input_shape=(13,)),
            tf.keras.layers.Dense(16, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile(optimizer="rmsprop", loss="mse", metrics=["mae"])
    return model


scores, histories = [], []
size = len(data) // FOLDS
for fold in range(FOLDS):
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(fold)
    held_out = slice(fold * size, (fold + 1) * size)
    x_train = np.delete(data, np.r_[held_out], axis=0)
    y_train = np.delete(targets, np.r_[held_out], axis=0)
    model = build_model()
    history = model.fit(
        x_train,
        y_train,
        validation_data=(data[held_out], targets[held_out]),
        epochs=EPOCHS,
        batch_size=8,
        verbose=0,
        callbacks=slowdown,
    )
    loss, mae = model.evaluate(data[held_out], targets[held_out], verbose=0)
    print(f"fold {fold}: loss {loss:.4f}, mae {mae:.5f}")
    scores.append(mae)
    histories.append(history.history["val_mae"])
print(f"mean {np.mean(scores):.5f} (+/- {np.std(scores):.5f})")
print("by epoch:", np.round(np.mean(histories, axis=0), 4).tolist())
