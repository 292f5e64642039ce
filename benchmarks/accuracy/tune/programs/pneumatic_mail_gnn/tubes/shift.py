import numpy as np


def shifts(city, n, seed):
    rng = np.random.default_rng(seed)
    load = rng.gamma(1.5, 1.0, (n, city.n)).astype("float32")
    pressure = rng.normal(1.0, 0.2, (n, city.n)).astype("float32")
    wear = np.broadcast_to(rng.uniform(size=city.n), (n, city.n)).astype("float32")
    flow = city.spread(load / pressure, 3)
    score = flow + wear + 0.1 * rng.normal(size=flow.shape)
    jam = (score > np.quantile(score, 0.8)).astype("float32")
    delay = city.spread(np.maximum(flow - 1.2, 0), 2) + 0.05 * rng.normal(size=flow.shape)
    place = np.broadcast_to(city.xy[None], (n, city.n, 2))
    x = np.concatenate([np.stack([load, pressure, wear], axis=2), place], axis=2)
    return x.astype("float32"), jam, delay.astype("float32")
