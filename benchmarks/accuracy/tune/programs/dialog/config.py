"""What can be chosen."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Config:
    vocabulary: int = 800
    length: int = 20
    width: int = 48
    intents: int = 12
    batch: int = 32
    stages: tuple = ((6, 250), (12, 250), (20, 250))
    """Longest sentence and number of updates."""
    rate: float = 1e-3
