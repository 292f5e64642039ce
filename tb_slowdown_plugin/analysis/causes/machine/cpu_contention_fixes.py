"""Advice for a process that gets no core, by what is known of its cores and threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import significant

Holder: TypeAlias = Literal["quota", "slow CPU", "own threads", "started", "others"]
"""What had the core, or the speed, that the process lacked: its container's quota, the CPU itself,
its own threads, processes that the program has started, or others."""

_NO_CORES: Final = ("own threads", "slow CPU")
"""Holders that no number of TensorFlow's threads gets around."""

_AT_START: Final = "at the start of the program, after `import tensorflow`"


@dataclass(frozen=True, slots=True)
class Cores:
    """What a run could compute on, and with how many threads; None where not recorded."""

    allowed: int | None = None
    """Cores that the process may use."""
    quota: float | None = None
    """So many of them the container's quota pays for."""
    threads: int | None = None
    """TensorFlow's threads for one operation, where the program has set them; else one a core."""
    operations: int | None = None
    """Operations that it runs at a time, likewise."""

    @classmethod
    def of(cls, limits: Mapping[str, float]) -> Cores:
        """Those of a recorded environment.

        Example:
          >>> Cores.of({"cpu_count": 8.0, "memory_limit_bytes": 1e9})
          Cores(allowed=8, quota=None, threads=None, operations=None)
        """
        allowed, threads = limits.get("cpu_count"), limits.get("intra_op_threads")
        operations = limits.get("inter_op_threads")
        return cls(
            int(allowed) if allowed else None,
            limits.get("cpu_quota_cores"),
            int(threads) if threads else None,
            int(operations) if operations else None,
        )

    def to_try(self, *, throttled: bool) -> int | None:
        """Threads that fit: as many as the quota pays for, or half of the cores beside others.

        Example:
          >>> Cores(8).to_try(throttled=False), Cores(8, quota=2.5).to_try(throttled=True)
          (4, 2)
        """
        share = self.quota if throttled else self.allowed and self.allowed / 2
        return max(1, int(share)) if share else None


@dataclass(frozen=True, slots=True)
class Contention:
    """What the record says of a process that waits for cores."""

    cores: Cores
    holder: Holder = "others"
    feeds: bool = True
    """A `tf.data` pipeline feeds the steps, or nobody knows."""

    @property
    def is_throttled(self) -> bool:
        """Whether a quota holds the process back, and not other programs."""
        return self.holder == "quota"

    @property
    def fits(self) -> int:
        """Threads to try."""
        return self.cores.to_try(throttled=self.is_throttled) or 1


def advise(contention: Contention) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, contention)


def _cores_are_known(contention: Contention) -> bool:
    cores = contention.cores
    if cores.allowed is None or cores.to_try(throttled=contention.is_throttled) is None:
        return False
    return contention.holder not in _NO_CORES


def _computes_itself(contention: Contention) -> bool:
    return contention.holder == "own threads"


def _has_started_others(contention: Contention) -> bool:
    return contention.holder == "started"


def _cores_are_unknown(contention: Contention) -> bool:
    return contention.holder not in _NO_CORES and not _cores_are_known(contention)


def _is_throttled(contention: Contention) -> bool:
    return contention.is_throttled


def _more_threads_than_cores(contention: Contention) -> bool:
    threads, allowed = contention.cores.threads, contention.cores.allowed
    set_too_high = bool(threads and allowed and threads > allowed)
    return _cores_are_known(contention) and not contention.is_throttled and set_too_high


def _more_threads_than_fit(contention: Contention) -> bool:
    """As many as there are cores, but fewer of these are for this program."""
    if not _cores_are_known(contention) or _more_threads_than_cores(contention):
        return False
    return contention.fits < (contention.cores.threads or contention.cores.allowed or 0)


def _others_compute(contention: Contention) -> bool:
    return contention.holder in ("slow CPU", "others")


def _pipeline_takes_cores(contention: Contention) -> bool:
    """A pool of tf.data has a thread for each core, and that is more than fit."""
    if not contention.feeds:
        return False
    known = _cores_are_known(contention) and contention.fits < (contention.cores.allowed or 0)
    return contention.holder == "own threads" or known


def as_many_as_cores(contention: Contention) -> Advice:
    """Not more threads."""
    threads, allowed = contention.cores.threads or 0, contention.cores.allowed or 1
    return Advice(
        f"Make no more threads than there are cores: the program asks for {threads} and may use "
        f"{allowed}. Call it before TensorFlow's first operation.",
        _set_threads(contention, allowed),
        "None, where the program is alone.",
        _AT_START,
    )


def fewer_data_threads(contention: Contention) -> Advice:
    """For the pipeline."""
    is_own = contention.holder == "own threads"
    half = (contention.cores.allowed or 2) // 4 if is_own else contention.fits // 2
    threads = max(1, half)
    return Advice(
        "Give the input pipeline a thread pool of its own, so that it leaves cores to the step: "
        "without one it has a thread for each core.",
        snippet(
            new(
                "options = tf.data.Options()",
                f"options.threading.private_threadpool_size = {threads}",
                "ds = ds.with_options(options)",
            )
        ),
        "A slow pipeline gets slower: look at the input wait afterwards.",
        "at the end of your input pipeline",
    )


def fewer_threads(contention: Contention) -> Advice:
    """For an operation."""
    cores, fits = contention.cores, contention.fits
    threads = cores.threads or cores.allowed
    why = (
        f"Make no more threads than the quota pays for: it is {significant(cores.quota, 3)} of "
        f"{cores.allowed} cores, and TensorFlow has {threads} threads for an operation."
        if contention.is_throttled and cores.quota
        else f"Leave cores to the other processes: TensorFlow has {threads} threads for an "
        f"operation, and waits for the last of them; half of the cores would be "
        f"{fits}."
    )
    return Advice(
        f"{why} Call it before TensorFlow's first operation.",
        _set_threads(contention, fits),
        "Slower where the cores are free after all.",
        _AT_START,
    )


def fewer_threads_in_words() -> Advice:
    """Without a number."""
    return Advice(
        "Make fewer threads before TensorFlow's first operation, by "
        "`tf.config.threading.set_intra_op_parallelism_threads`. How many cores the run could use "
        "was not recorded: try half of the threads that it has.",
        "",
        "Slower where the cores are free after all.",
    )


def move_others() -> Advice:
    """To another machine."""
    return Advice(
        "Stop the other jobs or use a dedicated machine: nothing in this "
        "program takes these seconds.",
        "",
        "A machine, or the time to wait for one.",
    )


def fewer_processes(contention: Contention) -> Advice:
    """Than there are cores."""
    allowed = contention.cores.allowed
    cores = f" The program may use {allowed}." if allowed else ""
    return Advice(
        f"Start fewer processes: the training needs cores of its own.{cores} One that has nothing "
        "to do must sleep, in `get` or `put`: a loop that asks again and again takes a whole core.",
        snippet(
            old("while box.full():", "    pass"),
            same("box.put(item)"),
        ),
        "Fewer processes make less at a time.",
        "find `multiprocessing.Process`, pools, and `subprocess`",
    )


def raise_quota() -> Advice:
    """Of the container."""
    return Advice(
        "Raise the container's CPU quota, or remove it: a quota below the number of cores stops "
        "all threads for the rest of each period of 100 ms.",
        "",
        "Other containers of the machine get less.",
    )


def threads_elsewhere() -> Advice:
    """Not beside the step."""
    return Advice(
        "Look for threads that compute beside the step: one that prepares other data, logs or "
        "plots, or a pool of workers. Let them work before the training, or as a process on a core "
        "of its own.",
        snippet(
            old("worker = threading.Thread(target=prepare, daemon=True)"),
            new("worker = multiprocessing.Process(target=prepare, daemon=True)"),
            same("worker.start()"),
            new("os.sched_setaffinity(worker.pid, {0})"),
        ),
        "What it makes must be handed over by a file or a queue. Start it before TensorFlow's "
        "first operation: a process that is forked later can hang.",
        "find `threading.Thread` and `ThreadPoolExecutor`",
    )


def _set_threads(contention: Contention, threads: int) -> str:
    lines = [f"tf.config.threading.set_intra_op_parallelism_threads({threads})"]
    at_a_time, chosen = min(2, threads), contention.cores.operations
    if chosen is None or chosen > at_a_time:
        lines.append(f"tf.config.threading.set_inter_op_parallelism_threads({at_a_time})")
    return snippet(new(*lines))


OFFERS: Final = (
    Offer(plain(threads_elsewhere), when=_computes_itself),
    Offer(fewer_processes, when=_has_started_others),
    Offer(plain(raise_quota), when=_is_throttled),
    Offer(plain(move_others), when=_others_compute),
    Offer(plain(fewer_threads_in_words), when=_cores_are_unknown),
    Offer(as_many_as_cores, when=_more_threads_than_cores),
    Offer(fewer_threads, when=_more_threads_than_fit),
    Offer(fewer_data_threads, when=_pipeline_takes_cores),
)

EXAMPLES: Final = (Contention(Cores(8, quota=2.5), "quota"),)
"""Evidence for its page in the documentation."""
