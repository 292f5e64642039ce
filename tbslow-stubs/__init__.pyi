"""Types of `tbslow`, installed as `tbslow-stubs`: PEP 561 knows none of a single module."""

from tb_slowdown_plugin import Monitor as Monitor
from tb_slowdown_plugin import SlowdownEvent as SlowdownEvent
from tb_slowdown_plugin import UsageError as UsageError
from tb_slowdown_plugin import __version__ as __version__
from tb_slowdown_plugin import data as data
from tb_slowdown_plugin import start as start
from tb_slowdown_plugin import stop as stop
from tb_slowdown_plugin.report.judged_runs import report as report

from . import keras as keras
from . import summary as summary
