import re, sys
from pathlib import Path
f = Path(sys.argv[1]) / "pyproject.toml"; t = f.read_text()
start = t.index('[[tool.importlinter.contracts]]\nname = "The tower of the reading process'); end = t.index('[[tool.importlinter.contracts]]\nname = "Nothing crosses between the towers"')
new = '''[[tool.importlinter.contracts]]
name = "The reading tower: cli on server on report on analysis, profiler, reader on records, catalog"
type = "layers"
layers = [
    "tb_slowdown_plugin.cli",
    "tb_slowdown_plugin.server",
    "tb_slowdown_plugin.report",
    "tb_slowdown_plugin.analysis | tb_slowdown_plugin.profiler | tb_slowdown_plugin.reader",
    "tb_slowdown_plugin.records | tb_slowdown_plugin.catalog",
    "tb_slowdown_plugin.errors",
]

[[tool.importlinter.contracts]]
name = "The training tower: public names on writer on collectors on records, catalog"
type = "layers"
layers = [
    "tb_slowdown_plugin.keras | tb_slowdown_plugin.summary",
    "tb_slowdown_plugin.writer",
    "tb_slowdown_plugin.collectors",
    "tb_slowdown_plugin.records | tb_slowdown_plugin.catalog",
    "tb_slowdown_plugin.errors",
]

[[tool.importlinter.contracts]]
name = "Analysis follows the flow"
type = "layers"
containers = ["tb_slowdown_plugin.analysis"]
exhaustive = true
layers = [
    "live",
    "report_builder",
    "views | compare",
    "causes",
    "diagnose",
    "residual",
    "ledger",
    "prepare",
    "text | stats",
    "types",
]

[[tool.importlinter.contracts]]
name = "A cause knows no cause of another family"
type = "layers"
containers = ["tb_slowdown_plugin.catalog.causes"]
exhaustive = true
layers = [
    "match | suspects | moving | unexplained",
    "change_labels",
    "startup | compile | data | memory | saving | machine | model | workload",
    "common | correlated_signals",
]

'''
t = t[:start] + new + t[end:]
f.write_text(t)
f = Path(sys.argv[1]) / "tests/architecture/test_floors.py"; t = f.read_text()
t = t.replace('("writer/", "collectors/", "demo.py")', '("writer/", "collectors/", "cli/demo_program.py")').replace('("tensorboard", ("server/", "reader/", "writer/"))', '("tensorboard", ("server/", "reader/", "writer/", "report/share/"))')
f.write_text(t)
