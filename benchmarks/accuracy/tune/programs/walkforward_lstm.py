"""Walk-forward LSTM on synthetic minute bars. Warm start from window to window.

For each window: a few passes over the trailing history with train_on_batch, then
out-of-sample signal for the next block, PnL with costs.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import keras

keras.utils.set_random_seed(99)
LOOKBACK, N_FEAT, BATCH = 30, 6, 512
HISTORY, BLOCK, WINDOWS = 16_000, 3_000, 9
COST = 0.00002


def bars(n, seed=0):
    """AR(2) latent drift + GARCH-like volatility."""
    r = np.random.default_rng(seed)
    drift, vol, ret = np.zeros(n), np.full(n, 1e-3), np.zeros(n)
    for t in range(2, n):
        drift[t] = 0.7 * drift[t - 1] + 0.2 * drift[t - 2] + 5e-5 * r.normal()
        vol[t] = np.sqrt(1e-8 + 0.9 * vol[t - 1] ** 2 + 0.08 * ret[t - 1] ** 2)
        ret[t] = drift[t] + vol[t] * r.normal()
    return ret, vol


def features(ret, vol):
    c = np.cumsum(ret)
    ema = lambda k: c - np.convolve(c, np.ones(k) / k)[: len(c)]
    f = np.stack(
        [ret / vol, ema(5) / vol, ema(20) / vol, ema(60) / vol, np.log(vol) + 6.5, np.sign(ret)],
        axis=1,
    )
    return np.clip(f, -5, 5).astype(np.float32)


def sequences(f, start, stop):
    """(n, LOOKBACK, N_FEAT), last row = bar t"""
    view = np.lib.stride_tricks.sliding_window_view(f, LOOKBACK, axis=0)
    return view[start - LOOKBACK + 1 : stop - LOOKBACK + 1].transpose(0, 2, 1)


def make_model():
    inp = keras.Input((LOOKBACK, N_FEAT))
    h = keras.layers.LSTM(64)(inp)
    h = keras.layers.Dropout(0.1)(h)
    out = keras.layers.Dense(1)(h)
    m = keras.Model(inp, out)
    m.compile(keras.optimizers.Adam(2e-3, clipnorm=1.0), loss="huber")
    return m


def main():
    ret, vol = bars(HISTORY + BLOCK * WINDOWS + 200)
    f = features(ret, vol)
    target = np.clip(np.roll(ret, -1) / vol, -4, 4).astype(np.float32)[:, None]
    model = make_model()
    rng = np.random.default_rng(1)
    pnl_all = []

    for w in range(WINDOWS):
        lo, hi = 100 + w * BLOCK, 100 + HISTORY + w * BLOCK
        x, y = sequences(f, lo, hi), target[lo:hi]
        # cold start needs more passes, afterwards only the new block is news
        passes = 5 if w == 0 else 3
        model.optimizer.learning_rate.assign(2e-3 if w == 0 else 8e-4)
        for p in range(passes):
            order = rng.permutation(len(x))
            losses = []
            for k in range(0, len(order) - BATCH + 1, BATCH):
                idx = order[k : k + BATCH]
                losses.append(model.train_on_batch(x[idx], y[idx]))
        xo = sequences(f, hi, hi + BLOCK)
        # pad to full batches so the same graph serves every block
        sig = []
        for k in range(0, BLOCK, BATCH):
            chunk = xo[k : k + BATCH]
            pad = BATCH - len(chunk)
            full = np.pad(chunk, ((0, pad), (0, 0), (0, 0)))
            sig.append(np.asarray(model.predict_on_batch(full))[: len(chunk), 0])
        pos = np.tanh(5 * np.concatenate(sig))
        pnl = pos * ret[hi + 1 : hi + BLOCK + 1] - COST * np.abs(np.diff(pos, prepend=0))
        pnl_all.append(pnl)
        print(
            f"window {w}: {passes} passes, loss {np.mean(losses):.4f}, "
            f"sharpe {pnl.mean() / pnl.std() * np.sqrt(390 * 252):.2f}",
            flush=True,
        )
    total = np.concatenate(pnl_all)
    print("total return", round(float(total.sum()), 4))


if __name__ == "__main__":
    main()
