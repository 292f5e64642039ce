import dataclasses


@dataclasses.dataclass
class Settings:
    seed: int = 7
    n_guests: int = 60000
    n_context: int = 12
    n_valves: int = 9
    embed: int = 48
    hidden: int = 384
    heads: int = 8
    arrivals: int = 512
    rounds: int = 420
    lr: float = 1e-3
    decay: float = 0.98
    report_every: int = 70
