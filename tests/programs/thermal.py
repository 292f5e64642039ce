"""From step 300 to 600 the device is hot and runs at half its clock: it takes twice as long.

No device here gets hot, so this is a rehearsal: a stand-in for the driver tells what NVML
documents of such a device, and where the device would compute, the training thread sleeps.
"""

import os
import sys
import time
from types import SimpleNamespace

import injector
import ordinary

import tbslow

STEPS = 800
HOT = range(300, 600)
DEVICE_SECONDS = 0.010


class Driver:
    """What `pynvml` would tell of one device."""

    NVMLError = RuntimeError
    NVML_CLOCK_SM = 1
    NVML_TEMPERATURE_GPU = 0
    nvmlDeviceGetCount = staticmethod(lambda: 1)
    nvmlDeviceGetHandleByIndex = staticmethod(lambda index: index)
    nvmlInit = nvmlShutdown = staticmethod(lambda: None)

    def __init__(self):
        self.is_hot = False

    def nvmlDeviceGetMemoryInfo(self, _):
        return SimpleNamespace(total=85_899_345_920, free=78_899_345_920, used=7_000_000_000)

    def nvmlDeviceGetUtilizationRates(self, _):
        return SimpleNamespace(gpu=97, memory=41)

    def nvmlDeviceGetClockInfo(self, _, __):
        return 990 if self.is_hot else 1_980

    def nvmlDeviceGetPowerUsage(self, _):
        return 350_000 if self.is_hot else 650_000

    def nvmlDeviceGetTemperature(self, _, __):
        return 88 if self.is_hot else 64

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _):
        return 0x40 if self.is_hot else 0x0


def main(logdir, truth, healthy):
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    sys.modules["pynvml"] = driver = Driver()
    net = ordinary.model(64)
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            driver.is_hot = i in HOT and not healthy
            with tbslow.summary.step():
                float(train_step(x, y))
                ordinary.device(DEVICE_SECONDS)()
                if driver.is_hot:
                    began = time.perf_counter()
                    ordinary.device(DEVICE_SECONDS)()
                    truth.add(i, time.perf_counter() - began)


if __name__ == "__main__":
    injector.run("thermal", main)
