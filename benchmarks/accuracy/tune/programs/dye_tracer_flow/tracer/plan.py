"""Which noise/regularisation is in force in which epoch."""

from dataclasses import dataclass


@dataclass(eq=False)
class Regime:
    label: str
    jitter: float
    ridge: float
    clip: float


class Itinerary:
    """Three stretches: a noisy start, the long middle, a quiet finish."""

    STRETCHES = (
        (0.25, dict(label="ragged", jitter=0.20, ridge=1e-4, clip=5.0)),
        (0.75, dict(label="steady", jitter=0.05, ridge=1e-5, clip=2.0)),
        (1.01, dict(label="quiet", jitter=0.00, ridge=0.0, clip=1.0)),
    )

    def __init__(self, total):
        self.total = total

    def at(self, epoch):
        done = epoch / self.total
        for end, fields in self.STRETCHES:
            if done < end:
                return Regime(**fields)
        raise IndexError(epoch)
