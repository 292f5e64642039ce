"""Ids of signals that the analysis reads by name."""

from __future__ import annotations

from typing import Final

RUN_DELAY: Final = "run_delay_seconds"
"""Signal: seconds that the process's threads waited for a core, counted up."""

THREAD_RUN_DELAY: Final = "thread_run_delay_seconds"
"""Signal: the same of the training thread alone; each of its seconds is one of the step."""

SWITCHES: Final = ("voluntary_switches", "involuntary_switches")
"""Signals: how often the process's threads left a core, counted up."""

CORES: Final = "allowed_cores"
"""Signal: cores that the process may use."""

FIXED_WORK: Final = "fixed_work_seconds"
"""Signal: CPU seconds of a small computation, the same at each sample; no count."""

POLLING_SECONDS: Final = "polling_seconds"
"""Signal: CPU seconds of threads that ask again and again whether they may go on, counted up."""

COMPUTING_SECONDS: Final = "computing_seconds"
"""Signal: the same of threads that compute and hand nothing over."""

THREAD_CPU: Final = "thread_cpu_seconds"
"""Signal: CPU seconds of the training thread in each step; unlike the others no count."""

THROTTLED_SECONDS: Final = "throttled_seconds"
"""Signal: seconds for which the cgroup's quota stopped the process, counted up."""

READ: Final = "disk_read_bytes"
