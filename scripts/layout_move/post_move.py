import subprocess, sys, re
from pathlib import Path
tree = Path(sys.argv[1]).resolve(); P = tree / "tb_slowdown_plugin"
def git(*a): subprocess.run(["git", "-C", str(tree), *a], check=True)
INIT = {
 "catalog": "What exists and what it is called: causes, accounts, signals, parameters.\n\nBoth towers read it, and it imports nothing of them. Start at `causes.py`.",
 "collectors/timing": "Clocks: exclusive seconds of the training thread.\n\nCollectors open and close accounts on a `stopwatch.Stopwatch`; the writer takes them per step.",
 "collectors/hooks": "Hooks into TensorFlow, Keras, and Python that the program does not see.\n\nStart at `method_hooks.py`.",
 "collectors/graph_timing": "Clocks inside TensorFlow graphs: timestamps in a graph become seconds of the training thread.\n\nStart at `graph_account.py`.",
 "collectors/tracing": "Calls of `tf.function`: traces with their reason, cost, and arguments.\n\nStart at `collector.TraceCollector`.",
 "collectors/xla": "Calls of jitted functions: recompilations and what they needed.\n\nStart at `collector.XlaCompilations`.",
 "collectors/input": "Iterators and batches: input wait, stages, batch shapes.\n\nStart at `wait.InputWait`.",
 "collectors/memory": "Allocators, live tensors, and tapes: bytes and who holds them.\n\nStart at `live_tensors.py`.",
 "collectors/saving": "What training writes: checkpoints, summaries, captures, files.\n\nStart at `saves.py`.",
 "collectors/keras": "Callbacks, `predict`, `evaluate`, and optimizers: seconds with their names.\n\nStart at `callbacks.py`.",
 "collectors/python": "The garbage collector and the stacks of threads: pauses and places.\n\nStart at `stacks.py`.",
 "collectors/system": "Kernel and devices: samples of CPU, memory, pressure, and GPU.\n\nStart at `cpu.py`.",
 "writer/steps": "`step()`, `phase()`, `epoch()`: rows of the training thread.\n\nStart at `recorder.Recorder`.",
 "writer/sampling": "When collectors are read, and what they return.\n\nStart at `sampler.py`.",
 "writer/output": "Rows and samples become tables, records, and an event file.\n\nStart at `tables.build_steps` and `outbox.py`.",
 "writer/keras": "Callbacks of `fit` become steps, epochs, and accounts.\n\nStart at `callback.SlowdownCallback`.",
 "reader/build": "Records become sessions, and sessions one run of columns.\n\nStart at `run_builder.py`.",
 "profiler/xplane": "Bytes of an XSpace file become planes, lines, and event columns.\n\nStart at `space.py`.",
 "analysis/stats": "Statistics of series that know no account: changes, growth, periods, noise.\n\nStart at `trend.fit_trend`.",
 "analysis/text": "Numbers become sentences.\n\nStart at `wording.py`.",
 "analysis/prepare": "A run becomes clean steps, exclusive seconds, traces, and workers.\n\nStart at `recorded_run.py` and `steps.py`.",
 "analysis/ledger": "Exclusive seconds become findings of accounts; the ledger balances.\n\nStart at `measured_accounts.py`.",
 "analysis/residual": "Step time that no account explains: warm-up, shifts, stalls.\n\nStart at `residual.py`.",
 "analysis/causes": "Findings become causes with evidence and fixes.\n\nStart at `match.py`; one folder a family, one module a cause.",
 "analysis/causes/common": "What several causes use: context, timing, places, fixes.\n\nStart at `context.py`.",
 "analysis/causes/workload": "Findings that are healthy after all: scheduled work and more work per step.",
 "analysis/causes/startup": "Causes of a slow start.",
 "analysis/causes/compile": "Causes in tracing and compilation.",
 "analysis/causes/data": "Causes in input, copies, and communication.",
 "analysis/causes/memory": "Causes in memory.",
 "analysis/causes/saving": "Causes in what training writes.",
 "analysis/causes/machine": "Causes in Python and the machine.",
 "analysis/causes/model": "Causes in the model's own work.",
 "analysis/views": "Report and run become the timeline, the range comparison, and the retraces table.\n\nStart at `timeline.py`.",
 "analysis/compare": "Two groups of runs become differences beyond noise.\n\nStart at `comparison.compare`.",
 "analysis/live": "A growing run becomes a report that keeps what it once confirmed.\n\nStart at `follow.py`.",
 "report/share": "A logdir becomes a zip without private data.\n\nStart at `archive.py`.",
}
for folder, text in INIT.items():
    d = P / folder
    if d.is_dir():
        f = d / "__init__.py"
        if not f.exists(): f.write_text('"""' + text + ('\n' if "\n" in text else "") + '"""\n')
# traces -> profiler
if (P / "traces/__init__.py").exists(): git("mv", "tb_slowdown_plugin/traces/__init__.py", "tb_slowdown_plugin/profiler/__init__.py")
if (P / "analysis/advice/__init__.py").exists(): git("rm", "-q", "-f", "tb_slowdown_plugin/analysis/advice/__init__.py")
import shutil
for d in ("analysis/advice", "analysis/rules", "traces"):
    if (P / d).is_dir(): shutil.rmtree(P / d)
(P / "_paths.py").write_text('"""Where this package and its page are on disk."""\n\nfrom pathlib import Path\nfrom typing import Final\n\nPACKAGE: Final = Path(__file__).parent\nPAGE: Final = PACKAGE / "static" / "index.js"\n')
def sub(path, old, new, count=1):
    f = P / path; t = f.read_text()
    assert old in t, (path, old)
    f.write_text(t.replace(old, new))
sub("collectors/tracing/subjects.py", "str(Path(__file__).parents[1]) + os.sep", "str(PACKAGE) + os.sep")
sub("collectors/python/stacks.py", 'str(Path(__file__).parent.parent) + "/"', 'str(PACKAGE) + "/"')
sub("server/plugin.py", 'PAGE: Final = Path(__file__).parent.parent / "static" / "index.js"\n', '')
sub("report/html_page.py", 'BUNDLE: Final = Path(__file__).parent.parent / "static" / "index.js"\n', '')
def add_import(path, line):
    f = P / path; t = f.read_text()
    t = re.sub(r"^(from tb_slowdown_plugin)", line + "\n\\1", t, count=1, flags=re.M)
    f.write_text(t)
add_import("collectors/tracing/subjects.py", "from tb_slowdown_plugin._paths import PACKAGE")
add_import("collectors/python/stacks.py", "from tb_slowdown_plugin._paths import PACKAGE")
add_import("server/plugin.py", "from tb_slowdown_plugin._paths import PAGE")
add_import("report/html_page.py", "from tb_slowdown_plugin._paths import PAGE")
sub("report/html_page.py", "bundle: Path = BUNDLE", "bundle: Path = PAGE")
sub("__init__.py", '"writer.batches"', '"writer.data"')
sub("collectors/input/wait.py", "(analysis/rules/ends_of_passes)", "(`analysis/causes/data/iterator_teardown.py`)")
f = P / "writer/sampling/sampler.py"; t = f.read_text()
f.write_text(t.replace('"""Steps between two looks at most: an eighth of those that can be kept (`writer/steps/step_buffer.py`)."""', '"""Steps between two looks at most: an eighth of those that `step_buffer.py` can keep."""').replace("`writer/steps/step_buffer.py`", "`pending.py`"))
f = tree / "tests/unit/analysis/causes/test_match.py"; t = f.read_text()
t = t.replace("from tb_slowdown_plugin.analysis import advice\n", "")
t = t[:t.index("\n\ndef test_each_cause_has_its_advice")] + "\n"
t = t.replace("has one rule and one module of advice, and nothing else has", "has one rule, and nothing else has")
f.write_text(t.rstrip() + "\n")
f = P / "analysis/ledger/contention.py"; t = f.read_text()
t = t.replace("accounts.THROTTLED", "ACCOUNT_THROTTLED").replace("from tb_slowdown_plugin.catalog import accounts\n", "from tb_slowdown_plugin.catalog.accounts import THROTTLED as ACCOUNT_THROTTLED\n")
f.write_text(t)
