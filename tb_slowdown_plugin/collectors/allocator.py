"""TensorFlow's allocators: bytes in use and their peak, for each device that tells.

Cost: 2 us a device and sample, in the background.
"""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.collectors import eager_context
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.records import names


class Allocator:
    """Samples `tf.config.experimental.get_memory_info`.

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
            raise Unavailable("eager execution is off, and sessions tell no allocator statistics")
        self._memory_info = tf.config.experimental.get_memory_info
        self._logical_devices = tf.config.list_logical_devices
        self._devices: list[str] | None = None
        if eager_context.is_initialised():
            self._find_devices()

    def read(self) -> Mapping[str, float]:
        """Bytes in use now and at most so far, for each device.

        Raises:
          Unavailable: No device's allocator keeps statistics.
        """
        if self._devices is None:
            if not eager_context.is_initialised():
                return {}
            self._find_devices()
        values: dict[str, float] = {}
        for device in self._devices or ():
            info = self._memory_info(device)
            values[names.account(names.ALLOCATOR_IN_USE, device)] = info["current"]
            values[names.account(names.ALLOCATOR_PEAK, device)] = info["peak"]
        return values

    def stop(self) -> None:
        """Nothing is hooked."""

    def _find_devices(self) -> None:
        listed = [device.name.removeprefix("/device:") for device in self._logical_devices()]
        self._devices = [device for device in listed if self._tells(device)]
        if not self._devices:
            raise Unavailable(f"no allocator of {', '.join(listed)} keeps statistics")

    def _tells(self, device: str) -> bool:
        try:
            self._memory_info(device)
        except ValueError:
            return False
        return True
