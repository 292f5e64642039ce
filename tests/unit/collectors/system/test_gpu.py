"""The NVML collector on a driver made for the test, with readings in NVML's documented units."""

import sys
from types import SimpleNamespace

import pytest

from tb_slowdown_plugin.catalog.collectors import signal
from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.system.gpu import Nvml


class NVMLError(Exception):
    pass


class Driver(SimpleNamespace):
    """The part of `pynvml` that is used, with a device's readings as NVML documents them."""

    NVMLError = NVMLError
    NVML_CLOCK_SM = 1
    NVML_TEMPERATURE_GPU = 0

    def __init__(self, devices, reasons=0, lacks=()):
        super().__init__(devices=devices, reasons=reasons, lacks=lacks, is_open=False)

    def nvmlInit(self):
        if not self.devices:
            raise NVMLError("Driver Not Loaded")
        self.is_open = True

    def nvmlShutdown(self):
        self.is_open = False

    def nvmlDeviceGetCount(self):
        return len(self.devices)

    def nvmlDeviceGetHandleByIndex(self, index):
        return self.devices[index]

    def nvmlDeviceGetMemoryInfo(self, handle):
        return SimpleNamespace(total=85_899_345_920, free=85_000_000_000, used=handle)

    def nvmlDeviceGetUtilizationRates(self, handle):
        return SimpleNamespace(gpu=97, memory=41)

    def nvmlDeviceGetClockInfo(self, handle, kind):
        assert kind == self.NVML_CLOCK_SM
        return 1_980

    def nvmlDeviceGetPowerUsage(self, handle):
        if "power" in self.lacks:
            raise NVMLError("Not Supported")
        return 653_120

    def nvmlDeviceGetTemperature(self, handle, sensor):
        assert sensor == self.NVML_TEMPERATURE_GPU
        return 61

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle):
        return self.reasons


@pytest.fixture
def use(monkeypatch):
    def use(driver, visible=None):
        monkeypatch.setitem(sys.modules, "pynvml", driver)
        if visible is None:
            monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        else:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        return Nvml()

    return use


def read(collector, recording):
    collector.start(recording.context)
    values = collector.read()
    collector.stop()
    return values


def test_a_devices_readings_have_our_units(use, recording):
    assert read(use(Driver([7_000], reasons=0x1)), recording) == {
        "gpu_memory_used_bytes:GPU:0": 7_000,
        "gpu_memory_total_bytes:GPU:0": 85_899_345_920,
        "gpu_utilization_percent:GPU:0": 97,
        "gpu_clock_hertz:GPU:0": 1_980_000_000,
        "gpu_power_milliwatts:GPU:0": 653_120,
        "gpu_temperature_celsius:GPU:0": 61,
        "gpu_thermal_slowdown:GPU:0": 0,
        "gpu_power_slowdown:GPU:0": 0,
        "gpu_hardware_slowdown:GPU:0": 0,
    }


@pytest.mark.parametrize(
    ("reasons", "thermal", "power", "hardware"),
    [
        (0x20, 1, 0, 0), (0x48, 1, 0, 1), (0x4, 0, 1, 0), (0x80 | 0x8, 0, 1, 1), (0x24, 1, 1, 0),
        (0x110, 0, 0, 0),
    ],
)  # fmt: skip
def test_the_reasons_for_lower_clocks_are_told_apart(
    use, recording, reasons, thermal, power, hardware
):
    values = read(use(Driver([1], reasons=reasons)), recording)
    assert values["gpu_thermal_slowdown:GPU:0"] == thermal
    assert values["gpu_power_slowdown:GPU:0"] == power
    assert values["gpu_hardware_slowdown:GPU:0"] == hardware
    assert "gpu_other_slowdown_bits:GPU:0" not in values


def test_unknown_reasons_are_told_as_numbers(use, recording):
    values = read(use(Driver([1], reasons=0x4 | 0x800)), recording)
    assert values["gpu_other_slowdown_bits:GPU:0"] == 0x800
    assert values["gpu_power_slowdown:GPU:0"] == 1


def test_devices_are_numbered_as_the_process_sees_them(use, recording):
    values = read(use(Driver([10, 11, 12]), visible="2,0"), recording)
    assert values["gpu_memory_used_bytes:GPU:0"] == 12
    assert values["gpu_memory_used_bytes:GPU:1"] == 10
    assert "gpu_memory_used_bytes:GPU:2" not in values


def test_what_a_device_does_not_support_is_left_out(use, recording):
    values = read(use(Driver([1], lacks={"power"})), recording)
    assert "gpu_power_milliwatts:GPU:0" not in values
    assert values["gpu_temperature_celsius:GPU:0"] == 61


def test_every_signal_has_a_name_and_a_unit(use, recording):
    assert all(signal(name) for name in read(use(Driver([1])), recording))


def test_the_driver_is_closed_on_stop_and_where_no_device_is_visible(use, recording):
    driver = Driver([1])
    collector = use(driver)
    collector.start(recording.context)
    assert driver.is_open
    collector.stop()
    assert not driver.is_open
    with pytest.raises(Unavailable, match="no NVIDIA device is visible"):
        use(driver, visible="").start(recording.context)
    assert not driver.is_open


def test_without_driver_or_package_there_is_a_reason(use, recording):
    with pytest.raises(Unavailable, match="no NVIDIA driver"):
        use(Driver([])).start(recording.context)
    with pytest.raises(Unavailable, match=r"\[gpu\]"):
        use(None).start(recording.context)
