"""Advice for a process that is kept off the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice
from tb_slowdown_plugin.analysis.wording import significant


@dataclass(frozen=True, slots=True)
class Cores:
    """What a run could compute on, and with how many threads; None where not recorded."""

    allowed: int | None = None
    """Cores that the process may use."""
    quota: float | None = None
    """So many of them the container's quota pays for."""
    threads: int | None = None
    """TensorFlow's threads for one operation, where the program has set them; else one a core."""

    @classmethod
    def of(cls, limits: Mapping[str, float]) -> Cores:
        """Those of a recorded environment.

        Example:
          >>> Cores.of({"cpu_count": 8.0, "memory_limit_bytes": 1e9})
          Cores(allowed=8, quota=None, threads=None)
        """
        allowed, threads = limits.get("cpu_count"), limits.get("intra_op_threads")
        return cls(
            int(allowed) if allowed else None,
            limits.get("cpu_quota_cores"),
            int(threads) if threads else None,
        )

    def to_try(self, *, throttled: bool) -> int | None:
        """Threads that fit: as many as the quota pays for, or half of the cores beside others.

        Example:
          >>> Cores(8).to_try(throttled=False), Cores(8, quota=2.5).to_try(throttled=True)
          (4, 2)
        """
        share = self.quota if throttled else self.allowed and self.allowed / 2
        return max(1, int(share)) if share else None


def advise(cores: Cores, *, throttled: bool, own: bool = False) -> tuple[Advice, ...]:
    """What to change.

    Args:
      cores: What the run could compute on.
      throttled: A quota holds the process back, not other programs.
      own: It is the process that keeps most of its cores busy, not other programs.
    """
    if own:
        return _threads_elsewhere(), _fewer_data_threads(max(1, (cores.allowed or 2) // 4))
    first = Advice(
        "Raise the container's CPU quota, or remove it: a quota below the number of cores stops "
        "all threads for the rest of each period of 100 ms.",
        "",
        "Other containers of the machine get less.",
    )
    if not throttled:
        first = Advice(
            "Move the other programs away, or run on a machine of your own: nothing in this "
            "program takes these seconds.",
            "",
            "A machine, or the time to wait for one.",
        )
    fits = cores.to_try(throttled=throttled)
    if cores.allowed is None or fits is None:
        return first, _fewer_threads_in_words()
    threads = cores.threads or cores.allowed
    found = [first]
    if cores.threads and cores.threads > cores.allowed and not throttled:
        found.append(_as_many_as_cores(cores.threads, cores.allowed))
    elif fits < threads:
        found.append(_fewer_threads(cores, fits, threads, throttled=throttled))
    if fits < cores.allowed:
        found.append(_fewer_data_threads(max(1, fits // 2)))
    return tuple(found)


def _threads_elsewhere() -> Advice:
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
    )


def _fewer_threads_in_words() -> Advice:
    return Advice(
        "Make fewer threads before TensorFlow's first operation, by "
        "`tf.config.threading.set_intra_op_parallelism_threads`. How many cores the run could use "
        "was not recorded: try half of the threads that it has.",
        "",
        "Slower where the cores are free after all.",
    )


def _as_many_as_cores(threads: int, allowed: int) -> Advice:
    return Advice(
        f"Make no more threads than there are cores: the program asks for {threads} and may use "
        f"{allowed}. Call it before TensorFlow's first operation.",
        _set_threads(allowed),
        "None, where the program is alone.",
    )


def _fewer_threads(cores: Cores, fits: int, threads: int, *, throttled: bool) -> Advice:
    why = (
        f"Make no more threads than the quota pays for: it is {significant(cores.quota, 3)} of "
        f"{cores.allowed} cores, and TensorFlow has {threads} threads for an operation."
        if throttled and cores.quota
        else f"Leave cores to the other programs: TensorFlow has {threads} threads for an "
        f"operation, and waits for the last of them; half of the cores would be "
        f"{fits}."
    )
    return Advice(
        f"{why} Call it before TensorFlow's first operation.",
        _set_threads(fits),
        "Slower where the cores are free after all.",
    )


def _set_threads(threads: int) -> str:
    return snippet(
        new(
            f"tf.config.threading.set_intra_op_parallelism_threads({threads})",
            f"tf.config.threading.set_inter_op_parallelism_threads({min(2, threads)})",
        )
    )


def _fewer_data_threads(threads: int) -> Advice:
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
    )
