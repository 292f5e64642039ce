"""NVIDIA devices through NVML: memory, load, clocks, power, temperature, why they slow down.

Needs the extra `[gpu]`. Cost: seven calls of the driver a device and sample, in
the background: 0.23 ms on an H200, and 86 ms of CPU once, to start.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context, Unavailable

HERTZ_PER_MHZ: Final = 1_000_000

THERMAL_REASONS: Final = 0x20 | 0x40
"""NVML's bits for software and hardware thermal slowdown (nvml.h, nvmlClocksEventReasons)."""
POWER_REASONS: Final = 0x4 | 0x80
"""Its bits for the software power cap and the power brake (the same place)."""
HARDWARE_REASONS: Final = 0x8 | 0x80
"""Its bits for a slowdown by hardware, of which the power brake is one."""
KNOWN_REASONS: Final = 0x1FF
"""Those and its bits for an idle device, clocks that were set, sync boost and displays."""


class Nvml:
    """Samples the devices that the process may use, numbered as TensorFlow numbers them."""

    name = "nvml"
    in_background = True

    def start(self, context: Context) -> None:  # noqa: ARG002 - nothing to hook
        """Opens the driver and finds the devices.

        Raises:
          Unavailable: The extra is not installed, or there is no NVIDIA device.
        """
        try:
            import pynvml
        except ImportError as error:
            raise Unavailable(
                'NVML is not installed: pip install "tb-slowdown-plugin[gpu]"'
            ) from error
        self._nvml: Any = pynvml
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            raise Unavailable("no NVIDIA driver responds") from error
        try:
            self._devices = self._find_devices(os.environ.get("CUDA_VISIBLE_DEVICES"))
        except Exception:
            pynvml.nvmlShutdown()
            raise

    def read(self) -> Mapping[str, float]:
        """What each device tells now; what a device does not tell is left out."""
        values: dict[str, float] = {}
        for number, handle in enumerate(self._devices):
            for signal, value in self._read_device(handle):
                values[names.account(signal, f"GPU:{number}")] = value
        return values

    def stop(self) -> None:
        """Closes the driver."""
        self._nvml.nvmlShutdown()

    def _find_devices(self, visible: str | None) -> list[Any]:
        chosen = visible_devices(visible, self._nvml.nvmlDeviceGetCount())
        if not chosen:
            raise Unavailable("no NVIDIA device is visible to this process")
        return [
            self._nvml.nvmlDeviceGetHandleByIndex(device)
            if isinstance(device, int)
            else self._nvml.nvmlDeviceGetHandleByUUID(device)
            for device in chosen
        ]

    def _read_device(self, handle: Any) -> Iterable[tuple[str, float]]:
        nvml = self._nvml
        memory = self._ask(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
        if memory is not None:
            yield names.GPU_MEMORY_USED, memory.used
            yield names.GPU_MEMORY_TOTAL, memory.total
        load = self._ask(lambda: nvml.nvmlDeviceGetUtilizationRates(handle))
        if load is not None:
            yield names.GPU_UTILIZATION, load.gpu
        clock = self._ask(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))
        if clock is not None:
            yield names.GPU_CLOCK, clock * HERTZ_PER_MHZ
        power = self._ask(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        if power is not None:
            yield names.GPU_POWER, power
        heat = self._ask(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
        if heat is not None:
            yield names.GPU_TEMPERATURE, heat
        reasons = self._ask(lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))
        if reasons is not None:
            yield names.GPU_THERMAL_SLOWDOWN, float(bool(reasons & THERMAL_REASONS))
            yield names.GPU_POWER_SLOWDOWN, float(bool(reasons & POWER_REASONS))
            yield names.GPU_HARDWARE_SLOWDOWN, float(bool(reasons & HARDWARE_REASONS))
            if reasons & ~KNOWN_REASONS:
                yield names.GPU_OTHER_SLOWDOWN, float(reasons & ~KNOWN_REASONS)

    def _ask(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except self._nvml.NVMLError:  # "Not Supported" on many devices, MIG slices among them
            return None


def visible_devices(variable: str | None, count: int) -> list[int | str]:
    """The devices that CUDA shows this process, by `CUDA_VISIBLE_DEVICES`, in its order.

    The list ends at the first entry that is no device (CUDA C++ Programming
    Guide, "CUDA Environment Variables"); not set means all.

    Example:
      >>> visible_devices(None, 2), visible_devices("1,0,-1,3", 4), visible_devices("", 4)
      ([0, 1], [1, 0], [])
      >>> visible_devices("GPU-8932f937,1", 4)
      ['GPU-8932f937', 1]
    """
    if variable is None:
        return list(range(count))
    chosen: list[int | str] = []
    for entry in (part.strip() for part in variable.split(",")):
        if entry.startswith(("GPU-", "MIG-")):
            chosen.append(entry)
        elif entry.isdigit() and int(entry) < count:
            chosen.append(int(entry))
        else:
            break
    return chosen
