"""Sediment in a river mouth. Writes batches to standard output until nobody reads them."""

import sys

import numpy as np

SIDE = 32


def batch(rng, count, steps=6):
    """Plumes that a tide carries about, and how much of each has settled."""
    mud = np.zeros((count, SIDE, SIDE), "float32")
    mud[:, 14:18, :4] = rng.uniform(0.5, 2, (count, 1, 1))
    settled = np.zeros(count, "float32")
    for _ in range(steps):
        mud = 0.6 * np.roll(mud, rng.integers(0, 4), axis=2) + 0.4 * np.roll(
            mud, rng.integers(-2, 3), axis=1
        )
        settled += 0.05 * mud[:, :, 16:].mean((1, 2)) * 100
        mud *= 0.95
    return mud + rng.normal(0, 0.05, mud.shape).astype("float32"), settled


if __name__ == "__main__":
    generator = np.random.default_rng(int(sys.argv[2]))
    try:
        while True:
            for array in batch(generator, int(sys.argv[1])):
                sys.stdout.buffer.write(array.tobytes())
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        sys.stderr.close()
