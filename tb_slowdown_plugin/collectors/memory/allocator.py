"""TensorFlow's allocators: bytes in use, their peak and limit, for each device that tells.

What an allocator writes into TensorFlow's log when it is short of memory is not read: it
goes to the standard error of the process, past Python.

Cost: 2 us a device and sample, 30 us out of a cold cache, in the background.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks import tensorflow_internals

_MIB: Final = 1 << 20


class Allocator:
    """Samples `tf.config.experimental.get_memory_info`.

    The limit is known where the program has set one (`LogicalDeviceConfiguration`), or the
    environment has for the CPU; else a device's whole memory is, see `nvml`.

    It never makes TensorFlow initialise its devices: until the program has done
    so (a call to `set_memory_growth` would fail afterwards) it reads nothing.
    A device whose allocator keeps no statistics is left out for good: CPU:0
    tells only with oneDNN or with the BFC allocator (TF_CPU_ALLOCATOR_USE_BFC).
    """

    name = "allocator"

    def start(self, context: Context) -> None:  # noqa: ARG002 - nothing to hook
        """Checks that there are eager devices to ask.

        Raises:
          Unavailable: Eager execution is off, or no device's allocator keeps statistics.
        """
        import tensorflow as tf

        if not tf.compat.v1.executing_eagerly_outside_functions():
            raise Unavailable("eager execution is off, and sessions report no allocator statistics")
        self._memory_info = tf.config.experimental.get_memory_info
        self._logical_devices = tf.config.list_logical_devices
        self._devices: list[str] | None = None
        self._limits: dict[str, int] = {}
        if tensorflow_internals.is_initialised():
            self._find_devices()

    def read(self) -> Mapping[str, float]:
        """Bytes in use now and at most so far, for each device.

        Raises:
          Unavailable: No device's allocator keeps statistics.
        """
        if self._devices is None:
            if not tensorflow_internals.is_initialised():
                return {}
            self._find_devices()
        values: dict[str, float] = {}
        for device in self._devices or ():
            info = self._memory_info(device)
            values[names.account(names.ALLOCATOR_IN_USE, device)] = info["current"]
            values[names.account(names.ALLOCATOR_PEAK, device)] = info["peak"]
            if device in self._limits:
                values[names.account(names.ALLOCATOR_LIMIT, device)] = self._limits[device]
        return values

    def stop(self) -> None:
        """Nothing is hooked."""

    def _find_devices(self) -> None:
        listed = [device.name.removeprefix("/device:") for device in self._logical_devices()]
        self._devices = [device for device in listed if self._tells(device)]
        if not self._devices:
            raise Unavailable(f"no allocator of {', '.join(listed)} keeps statistics")
        self._limits = _find_limits()

    def _tells(self, device: str) -> bool:
        try:
            self._memory_info(device)
        except ValueError:
            return False
        return True


def _find_limits() -> dict[str, int]:
    """Device -> bytes that its allocator may use, where that has been set."""
    import tensorflow as tf

    limits = {}
    if os.environ.get("TF_CPU_ALLOCATOR_USE_BFC") in ("1", "true"):
        limit = os.environ.get("TF_CPU_BFC_MEM_LIMIT_IN_MB", "")
        if limit.isdigit():
            limits["CPU:0"] = int(limit) * _MIB
    numbers: dict[str, int] = {}
    for physical in tf.config.list_physical_devices():
        kind = physical.device_type
        logical: list[Any] = tf.config.get_logical_device_configuration(physical) or [None]
        for each in logical:
            number = numbers.get(kind, 0)
            numbers[kind] = number + 1
            megabytes = getattr(each, "memory_limit", None)
            if megabytes:
                limits[f"{kind}:{number}"] = int(megabytes) * _MIB
    return limits
