"""AMD devices: memory, load, clock, power, temperature, why they slow down.

By `amdsmi`, which comes with ROCm, else by what the kernel's driver shows in sysfs,
which does not tell why a clock is lowered. Cost: two calls of the library, or seven
small files, a device and sample, in the background; not measured on hardware.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.system.gpu import HERTZ_PER_MHZ, visible_devices

_VENDOR: Final = "0x1002"
_MIB: Final = 1 << 20
_GROWS: Final = {
    names.GPU_THERMAL_SLOWDOWN: (
        "socket_thm_residency_acc", "vr_thm_residency_acc", "hbm_thm_residency_acc",
    ),
    names.GPU_HARDWARE_SLOWDOWN: ("prochot_residency_acc",),
    names.GPU_POWER_SLOWDOWN: ("ppt_residency_acc",),
}  # fmt: skip
"""Signal -> the counters of `amdsmi` that grow while that holds the clock back."""

_Read = Callable[[], Iterable[tuple[str, float]]]


class AmdGpu:
    """Samples the devices that the process may use, numbered as TensorFlow numbers them.

    Args:
      root: Where sysfs and procfs are mounted below.
    """

    name = "amd_gpu"
    in_background = True

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._readers: list[_Read] = []
        self._close: Callable[[], None] = lambda: None

    def start(self, context: Context) -> None:  # noqa: ARG002 - nothing to hook
        """Finds the devices.

        Raises:
          Unavailable: ROCm's kernel driver is not loaded, or no device is visible.
        """
        if not (self._root / "sys/class/kfd").exists():
            raise Unavailable("no AMD compute driver (ROCm) is loaded")
        readers = self._by_library() or self._by_sysfs()
        told = (os.environ.get(name) for name in ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"))
        visible = next((list_ for list_ in told if list_ is not None), None)
        chosen = visible_devices(visible, len(readers))
        self._readers = [readers[device] for device in chosen if isinstance(device, int)]
        if not self._readers:
            self._close()
            raise Unavailable("no AMD device is visible to this process")

    def read(self) -> Mapping[str, float]:
        """What each device tells now; what a device does not tell is left out."""
        return {
            names.account(signal, f"GPU:{number}"): value
            for number, reader in enumerate(self._readers)
            for signal, value in reader()
        }

    def stop(self) -> None:
        """Closes the library."""
        self._close()

    def _by_library(self) -> list[_Read]:
        try:
            import amdsmi

            amdsmi.amdsmi_init()
        except Exception:  # noqa: BLE001 - not installed, or its C library is another version
            return []
        self._close = amdsmi.amdsmi_shut_down
        return [_LibraryDevice(amdsmi, one) for one in amdsmi.amdsmi_get_processor_handles()]

    def _by_sysfs(self) -> list[_Read]:
        cards = (self._root / "sys/class/drm").glob("card[0-9]*/device/vendor")
        found = [path.parent for path in cards if _text(path) == _VENDOR]
        found.sort(key=lambda path: os.path.realpath(path))  # by PCI address, as ROCm does
        return [_SysfsDevice(path) for path in found]


class _LibraryDevice:
    def __init__(self, amdsmi: Any, handle: Any) -> None:
        self._amdsmi = amdsmi
        self._handle = handle
        self._before: Mapping[str, Any] = {}

    def __call__(self) -> Iterable[tuple[str, float]]:
        memory = self._ask(self._amdsmi.amdsmi_get_gpu_vram_usage)
        told = self._ask(self._amdsmi.amdsmi_get_gpu_metrics_info)
        clocks = [clock for clock in told.get("current_gfxclks") or () if _is_number(clock)]
        found = (
            (names.GPU_MEMORY_USED, memory.get("vram_used"), _MIB),
            (names.GPU_MEMORY_TOTAL, memory.get("vram_total"), _MIB),
            (names.GPU_UTILIZATION, told.get("average_gfx_activity"), 1),
            (names.GPU_CLOCK, max(clocks, default=told.get("current_gfxclk")), HERTZ_PER_MHZ),
            (names.GPU_POWER, _first(told, "current_socket_power", "average_socket_power"), 1000),
            (names.GPU_TEMPERATURE, told.get("temperature_hotspot"), 1),
        )
        for signal, value, unit in found:
            if value is not None and _is_number(value):
                yield signal, value * unit
        before, self._before = self._before, dict(told)
        for signal, counters in _GROWS.items():
            known = [
                told[name] > before[name]
                for name in counters
                if _is_number(told.get(name)) and _is_number(before.get(name))
            ]
            if known:
                yield signal, float(any(known))

    def _ask(self, call: Callable[[Any], Mapping[str, Any]]) -> Mapping[str, Any]:
        try:
            return call(self._handle)
        except self._amdsmi.AmdSmiException:  # not supported by this device
            return {}


class _SysfsDevice:
    def __init__(self, device: Path) -> None:
        (monitor,) = [*device.glob("hwmon/hwmon*")][:1] or [device / "hwmon/none"]
        hot = [path for path in sorted(monitor.glob("temp*_label")) if _text(path) == "junction"]
        temperature = (hot or [monitor / "temp1_label"])[0].name.replace("_label", "_input")
        self._files = (
            (names.GPU_MEMORY_USED, (device / "mem_info_vram_used",), 1.0),
            (names.GPU_MEMORY_TOTAL, (device / "mem_info_vram_total",), 1.0),
            (names.GPU_UTILIZATION, (device / "gpu_busy_percent",), 1.0),
            (names.GPU_CLOCK, (monitor / "freq1_input",), 1.0),
            (names.GPU_POWER, (monitor / "power1_average", monitor / "power1_input"), 1e-3),
            (names.GPU_TEMPERATURE, (monitor / temperature,), 1e-3),
        )

    def __call__(self) -> Iterable[tuple[str, float]]:
        for signal, paths, unit in self._files:
            told = next((text for text in map(_text, paths) if text.isdecimal()), None)
            if told is not None:
                yield signal, int(told) * unit


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _first(told: Mapping[str, Any], *keys: str) -> Any:
    return next((told[key] for key in keys if _is_number(told.get(key))), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
