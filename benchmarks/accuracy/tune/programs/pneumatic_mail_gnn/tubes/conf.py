from dataclasses import dataclass


@dataclass(frozen=True)
class Conf:
    seed: int = 31
    stations: int = 80
    snapshots: int = 1600
    batch: int = 48
    width: int = 96
    layers: int = 4
    lr: float = 1e-3
    phases: tuple = ("jam", "delay") * 3 + ("both",) * 4
