import sys
from pathlib import Path
tree = Path(sys.argv[1]); P = tree / "tb_slowdown_plugin"
def sub(path, *pairs):
    f = P / path; t = f.read_text()
    for a, b in pairs:
        assert a in t, (path, a)
        t = t.replace(a, b)
    f.write_text(t)
sub("catalog/accounts.py", ("ACCOUNT_THROTTLED", "THROTTLED"))
DOCS = {"catalog/signals.py": "Ids of signals that the analysis reads by name.", "catalog/events.py": "Names of the events that a record holds as a `Fact`.", "catalog/parameters.py": "Decision thresholds that several modules share."}
for p, d in DOCS.items():
    f = P / p; t = f.read_text(); t = t[t.index('"""', 3) + 3:]; f.write_text(f'"""{d}"""' + t)
