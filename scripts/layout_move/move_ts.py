import os
import re, subprocess, sys, os
from pathlib import Path
tree = Path(sys.argv[1]).resolve(); SRC = tree / "frontend/src"
TEXT = Path(os.environ["LAYOUT"]).read_text()
part = TEXT[TEXT.index("### 2.2 Frontend"):TEXT.index("### 2.3 Docu")]
moves = {}; folder = None
for line in part.splitlines():
    if m := re.fullmatch(r"\[(\S+)\]", line): folder = "" if m[1] == "." else m[1] + "/"; continue
    m = re.match(r"(\S+)\.ts\s+\d+\s+(.*)$", line)
    if not m or folder is None: continue
    new = folder + m[1]; rest = m[2].split("#")[0].replace("*", "").strip()
    if rest.startswith("="): continue
    if rest == "new": continue
    for i, old in enumerate(x.strip() for x in rest.split("+")):
        moves[old] = new if i == 0 else folder + old.split("/")[-1]
moves.pop('model/text', None)
# model/collectors.test.ts goes with model/run
moves = {o: n for o, n in moves.items() if (SRC / (o + ".ts")).exists() and o != n}
assert len(set(moves.values())) == len(moves), "dups"
def git(*a): subprocess.run(["git", "-C", str(tree), *a], check=True, capture_output=True)
files = [p for p in (tree / "frontend").rglob("*.ts") if "node_modules" not in p.parts]
tests = {o: n for o, n in moves.items() if (SRC / (o + ".test.ts")).exists()}
def new_of(rel):  # module path without .ts relative to src
    if rel.endswith(".test"): return moves.get(rel[:-5], rel[:-5]) + ".test"
    return moves.get(rel, rel)
for p in files:
    text = p.read_text()
    inside = SRC in p.parents
    rel = str(p.relative_to(SRC))[:-3] if inside else None
    here_old = p.parent
    here_new = (SRC / (new_of(rel) + ".ts")).parent if inside else p.parent
    def sub(m):
        spec = m[2]
        if not spec.startswith("."): return m[0]
        target = Path(os.path.normpath(here_old / spec))
        ext = ""
        if target.suffix in (".css", ".ts", ".json"): ext = target.suffix
        base = Path(str(target)[:-len(ext)]) if ext == ".ts" else target
        try: r = str(base.relative_to(SRC))
        except ValueError:
            q = os.path.relpath(target, here_new)
            return m[1] + '"' + (q if q.startswith(".") else "./" + q) + '"'
        r2 = new_of(r) if ext in ("", ".ts") else r
        q = os.path.relpath(SRC / r2, here_new)
        q = q if q.startswith(".") else "./" + q
        return m[1] + '"' + q + (".ts" if ext == ".ts" else "") + '"'
    new = re.sub(r'((?:from|import|vi\.mock\(|import\()\s*)"([^"]+)"', sub, text)
    if new != text: p.write_text(new)
tmp = []
for o, n in moves.items():
    for suffix in (".ts", ".test.ts"):
        src = SRC / (o + suffix)
        if src.exists():
            t = src.with_name("__m__" + src.name); git("mv", str(src), str(t)); tmp.append((t, SRC / (n + suffix)))
for t, d in tmp:
    d.parent.mkdir(parents=True, exist_ok=True); git("mv", str(t), str(d))
# texts that name module paths
for f in ["docs/page.md", "CONTRIBUTING.md", "docs/writer.md"]: pass
print("moved", len(tmp))
