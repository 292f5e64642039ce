"""The AMD collector on a library and a sysfs made for the test, with their documented units."""

import sys
from types import SimpleNamespace

import pytest

from tb_slowdown_plugin.catalog.collectors import signal
from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.system.amd_gpu import AmdGpu


class AmdSmiException(Exception):
    pass


class Library(SimpleNamespace):
    """The part of `amdsmi` that is used; "N/A" is what it returns for what a device lacks."""

    AmdSmiException = AmdSmiException

    def __init__(self, *metrics, refuses=False):
        super().__init__(metrics=[*metrics], refuses=refuses, is_open=False)

    def amdsmi_init(self):
        self.is_open = True

    def amdsmi_shut_down(self):
        self.is_open = False

    def amdsmi_get_processor_handles(self):
        return range(len(self.metrics))

    def amdsmi_get_gpu_vram_usage(self, handle):
        if self.refuses:
            raise AmdSmiException
        return {"vram_total": 196_592, "vram_used": 1_024 * (handle + 1)}

    def amdsmi_get_gpu_metrics_info(self, handle):
        if self.refuses:
            raise AmdSmiException
        return self.metrics[handle]


MI300 = {
    "average_gfx_activity": 97, "current_gfxclk": "N/A", "current_gfxclks": [2100, 2080, "N/A"],
    "current_socket_power": 703, "average_socket_power": "N/A", "temperature_hotspot": 71,
    "socket_thm_residency_acc": 10, "vr_thm_residency_acc": 0, "hbm_thm_residency_acc": 5,
    "prochot_residency_acc": 0, "ppt_residency_acc": 900, "indep_throttle_status": True,
}  # fmt: skip


@pytest.fixture
def use(monkeypatch, tmp_path):
    monkeypatch.delenv("HIP_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (tmp_path / "sys/class/kfd").mkdir(parents=True)

    def use(library=None):
        monkeypatch.setitem(sys.modules, "amdsmi", library)
        return AmdGpu(tmp_path)

    return use


def test_a_devices_readings_have_our_units(use, recording):
    library = Library(dict(MI300))
    collector = use(library)
    collector.start(recording.context)
    assert library.is_open
    first = collector.read()
    assert first == {
        "gpu_memory_used_bytes:GPU:0": 1 << 30,
        "gpu_memory_total_bytes:GPU:0": 196_592 << 20,
        "gpu_utilization_percent:GPU:0": 97,
        "gpu_clock_hertz:GPU:0": 2_100_000_000,
        "gpu_power_milliwatts:GPU:0": 703_000,
        "gpu_temperature_celsius:GPU:0": 71,
    }
    library.metrics[0] |= {"hbm_thm_residency_acc": 6}
    second = collector.read()
    assert second["gpu_thermal_slowdown:GPU:0"] == 1
    assert second["gpu_hardware_slowdown:GPU:0"] == 0
    assert second["gpu_power_slowdown:GPU:0"] == 0
    library.metrics[0] |= {"ppt_residency_acc": 950}
    third = collector.read()
    assert (third["gpu_thermal_slowdown:GPU:0"], third["gpu_power_slowdown:GPU:0"]) == (0, 1)
    assert all(signal(name) for name in third)
    collector.stop()
    assert not library.is_open


def test_devices_are_numbered_as_the_process_sees_them(use, recording, monkeypatch):
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    collector = use(Library(dict(MI300), dict(MI300)))
    collector.start(recording.context)
    assert collector.read()["gpu_memory_used_bytes:GPU:0"] == 2 << 30


def test_what_a_device_refuses_is_left_out(use, recording):
    collector = use(Library(dict(MI300), refuses=True))
    collector.start(recording.context)
    assert collector.read() == {}


def test_without_the_library_sysfs_tells(use, recording, tmp_path):
    device = tmp_path / "sys/class/drm/card1/device"
    monitor = device / "hwmon/hwmon4"
    monitor.mkdir(parents=True)
    files = {
        "vendor": "0x1002", "mem_info_vram_used": "17179869184", "gpu_busy_percent": "93",
        "hwmon/hwmon4/freq1_input": "1700000000", "hwmon/hwmon4/power1_average": "300000000",
        "hwmon/hwmon4/temp1_label": "edge", "hwmon/hwmon4/temp1_input": "50000",
        "hwmon/hwmon4/temp2_label": "junction", "hwmon/hwmon4/temp2_input": "88000",
    }  # fmt: skip
    for name, text in files.items():
        (device / name).write_text(f"{text}\n")
    other = tmp_path / "sys/class/drm/card0/device"
    other.mkdir(parents=True)
    (other / "vendor").write_text("0x1a03\n")
    collector = use()
    collector.start(recording.context)
    assert collector.read() == {
        "gpu_memory_used_bytes:GPU:0": 17_179_869_184,
        "gpu_utilization_percent:GPU:0": 93,
        "gpu_clock_hertz:GPU:0": 1_700_000_000,
        "gpu_power_milliwatts:GPU:0": 300_000,
        "gpu_temperature_celsius:GPU:0": 88,
    }
    (monitor / "freq1_input").write_text("garbage")
    assert "gpu_clock_hertz:GPU:0" not in collector.read()
    collector.stop()


def test_without_a_driver_or_a_device_there_is_a_reason(use, recording, tmp_path):
    with pytest.raises(Unavailable, match="no AMD device is visible"):
        use().start(recording.context)
    (tmp_path / "sys/class/kfd").rmdir()
    with pytest.raises(Unavailable, match="no AMD compute driver"):
        use(Library(dict(MI300))).start(recording.context)
