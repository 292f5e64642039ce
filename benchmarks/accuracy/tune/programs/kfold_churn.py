#!/usr/bin/env python
# coding: utf-8
# In[1]:
import time
import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 2024
N_FOLDS = 7
EPOCHS = 3
BATCH = 512
keras.utils.set_random_seed(SEED)

# In[2]: customers table
rng = np.random.default_rng(SEED)
N = 14000
num = rng.normal(size=(N, 24)).astype("float32")
plan = rng.integers(0, 12, size=N)
region = rng.integers(0, 40, size=N)
emb_p, emb_r = rng.normal(size=12), rng.normal(size=40) * 0.5
logit = 1.4 * num[:, 0] * num[:, 1] + np.sin(2 * num[:, 2]) + emb_p[plan] + emb_r[region] - 0.8
y = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype("float32")
print("churn rate", y.mean())


# In[3]:
def auc_score(t, p):
    order = np.argsort(p)
    ranks = np.empty(len(p))
    ranks[order] = np.arange(1, len(p) + 1)
    pos = t.sum()
    return (ranks[t == 1].sum() - pos * (pos + 1) / 2) / (pos * (len(t) - pos))


class FoldReport(keras.callbacks.Callback):
    """AUC + lift table on the held-out fold after each epoch."""

    def __init__(self, fold, data, target, log):
        super().__init__()
        self.fold, self.data, self.target, self.log = fold, data, target, log

    def on_epoch_end(self, epoch, logs=None):
        # dropout-averaged score, 20 stochastic passes
        ps = []
        for _ in range(20):
            out = [
                self.model.mc(tuple(d[i : i + 1000] for d in self.data))
                for i in range(0, len(self.target), 1000)
            ]
            ps.append(np.concatenate([o.numpy() for o in out])[:, 0])
        p = np.mean(ps, 0)
        top = self.target[np.argsort(-p)[: len(p) // 10]].mean()
        self.log.append((self.fold, epoch, auc_score(self.target, p), top / self.target.mean()))


class ChurnModel(keras.Model):
    def __init__(self, width=192):
        super().__init__()
        self.ep = keras.layers.Embedding(12, 8)
        self.er = keras.layers.Embedding(40, 8)
        self.body = keras.Sequential()
        for _ in range(3):
            self.body.add(keras.layers.Dense(width, activation="swish"))
            self.body.add(keras.layers.Dropout(0.2))
        self.out = keras.layers.Dense(1, activation="sigmoid")

    def call(self, inputs, training=False):
        n, p, r = inputs
        h = tf.concat([n, self.ep(p), self.er(r)], -1)
        return self.out(self.body(h, training=training))

    @tf.function(reduce_retracing=True)
    def mc(self, inputs):
        return self(inputs, training=True)


# In[4]: folds
perm = rng.permutation(N)
folds = np.array_split(perm, N_FOLDS)
log = []
callbacks = [keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=2, factor=0.5)]
oof = np.zeros(N)

model = ChurnModel()
model.compile(keras.optimizers.Adam(2e-3), "binary_crossentropy")
model((num[:2], plan[:2], region[:2]))
w0 = model.get_weights()  # every fold starts from the same init

for k in range(N_FOLDS):
    tic = time.time()
    va = folds[k]
    tr = np.concatenate([folds[j] for j in range(N_FOLDS) if j != k])
    callbacks.append(FoldReport(k, (num[va], plan[va], region[va]), y[va], log))
    model.set_weights(w0)
    model.optimizer.learning_rate = 2e-3
    hist = model.fit(
        (num[tr], plan[tr], region[tr]),
        y[tr],
        batch_size=BATCH,
        epochs=EPOCHS,
        verbose=0,
        callbacks=callbacks,
    )
    oof[va] = model.predict((num[va], plan[va], region[va]), batch_size=2000, verbose=0)[:, 0]
    print(
        f"fold {k + 1}/{N_FOLDS}  train_loss {hist.history['loss'][-1]:.4f}  "
        f"auc {log[-1][2]:.4f}  lift@10 {log[-1][3]:.2f}   {time.time() - tic:.1f}s"
    )

# In[5]:
print("OOF AUC: %.4f" % auc_score(y, oof))
