import re, sys
from pathlib import Path
tree = Path(sys.argv[1]); P = tree / "tb_slowdown_plugin"
# coverage reads the names of collectors from the catalog
f = P / "analysis/text/coverage.py"; t = f.read_text()
s = t.index("_SIGNAL: Final = {"); e = t.index('"""Collector -> the signal', s); e = t.index('\n', t.index('"""', e + 3)) + 1
t = t[:s] + t[e:]
t = t.replace("_SIGNAL.get(collector.name, collector.name)", "signal_of(collector.name)")
t = re.sub(r"^(from tb_slowdown_plugin)", "from tb_slowdown_plugin.catalog.collectors import signal_of\n\\1", t, count=1, flags=re.M)
f.write_text(t)
# short labels of signals
lane = tree / "frontend/src/model/timeline/lane.ts"; L = lane.read_text()
s = L.index("const SHORT: Readonly"); e = L.index("};\n", s) + 3
short = dict(re.findall(r'(\w+): "([^"]+)"', L[s:e]))
f = P / "catalog/names.py"; t = f.read_text()
consts = dict(re.findall(r'^(\w+): Final = "(\w+)"', t, re.M))
def sub(m):
    name = m[2].strip('"') if m[2].startswith('"') else consts[m[2]]
    return f'{m[1]}{m[2]}, "{m[3]}", "{m[4]}", "{short[name]}"'
t = re.sub(r'(Signal\(\s*)("\w+"|[A-Z_]+), "(\w+)", "([^"]+)"', sub, t)
t = t.replace('    title: str\n    cumulative: bool', '    title: str\n    short: str\n    """Label of its lane; of a device\'s signal, what follows the device."""\n    cumulative: bool')
f.write_text(t)
comment = re.search(r'/\*\*[^/]*\*/\n$', L[:s])
cs = comment.start() if comment else s
print("comment over SHORT:", L[cs:s])
L = L[:cs] + L[e:]
L = L.replace("SHORT[", "SHORT_SIGNALS[")
L = re.sub(r"^import ", 'import { SHORT_SIGNALS } from "../../catalog/tables";\nimport ', L, count=1, flags=re.M)
lane.write_text(L)
