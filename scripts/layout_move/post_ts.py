import os
import os, re, sys
from pathlib import Path
tree = Path(sys.argv[1]).resolve(); SRC = tree / "frontend/src"
def files(): return [p for p in list(SRC.rglob("*.ts")) + list((tree/"frontend/tests").rglob("*.ts")) + list((tree/"frontend/dev").rglob("*.ts"))]
def spec(p, mod):
    q = os.path.relpath(SRC / mod, p.parent); return q if q.startswith(".") else "./" + q
def resolve(p, s): return os.path.relpath(os.path.normpath(p.parent / s), SRC) if s.startswith(".") else s
def move(block_start, name, a, b, typ=False, extra=()):
    """Cuts the block that begins with the line `block_start` (with comments above) to its end."""
    pa, pb = SRC / (a + ".ts"), SRC / (b + ".ts")
    lines = pa.read_text().splitlines(keepends=True)
    i = next(k for k, l in enumerate(lines) if l.startswith(block_start))
    j = i
    if not lines[i].rstrip().endswith(";"):
        while not (lines[j].startswith("}") or lines[j].rstrip() == ";"): j += 1
    k = i
    while k > 0 and (lines[k-1].startswith(("/**", " *", "//"))): k -= 1
    block = "".join(lines[k:j+1]); del lines[k:j+1]
    pa.write_text("".join(lines))
    if not pb.exists(): pb.write_text(f"/** TODO */\n")
    pb.write_text(pb.read_text().rstrip("\n") + "\n\n" + block)
    for p in files():
        t = p.read_text(); had = False
        def sub(m):
            nonlocal had
            if resolve(p, m[3]) != a: return m[0]
            names = [n.strip() for n in m[2].split(",") if n.strip()]
            keep = [n for n in names if re.sub(r"^type ", "", n) != name]
            if len(keep) == len(names): return m[0]
            had = True
            return f'import {m[1] or ""}{{ {", ".join(keep)} }} from "{m[3]}";\n' if keep else ""
        t2 = re.sub(r'import (type )?\{([^}]*)\} from "([^"]+)";\n', sub, t)
        uses = re.search(rf"\b{name}\b", re.sub(r"import [^;]*;", "", t2))
        if (had or (p == pa and uses)) and p != pb:
            line = f'import {"type " if typ else ""}{{ {name} }} from "{spec(p, b)}";\n'
            m = re.search(r"^import ", t2, re.M)
            pos = m.start() if m else (t2.index("*/") + 3 if t2.startswith("/**") else 0)
            t2 = t2[:pos] + line + t2[pos:]
        if t2 != t: p.write_text(t2)
def add_import(mod, line):
    p = SRC / (mod + ".ts"); t = p.read_text(); m = re.search(r"^import ", t, re.M)
    pos = m.start() if m else t.index("*/") + 3
    p.write_text(t[:pos] + ("\n" if not m else "") + line + "\n" + ("" if m else "") + t[pos:])
(SRC / "charts/timeline/painting.ts").write_text("/** What the painters of the timeline's rows are given, and text that stays readable over bars. */\n\nimport type { CaptureSpan } from \"../../model/captures\";\nimport type { Projection, Scene } from \"../../model/timeline/scene\";\nimport type { Theme } from \"../canvas/theme\";\nimport type { Layout } from \"./rows\";\n")
move("export interface Painting", "Painting", "charts/timeline/paint", "charts/timeline/painting", True)
move("export function haloed", "haloed", "charts/timeline/change_paint", "charts/timeline/painting")
(SRC / "charts/badge.ts").write_text('/** The mark of a cause or of healthy time, as in the legend. */\n\nimport { html, type TemplateResult } from "lit-html";\nimport { causeKind, HEALTHY } from "../catalog/causes";\n')
move("export const HEALTHY", "HEALTHY", "model/run/ledger", "catalog/causes")
move("export function badge", "badge", "charts/timeline/gutter", "charts/badge")
move("export type Measured", "Measured", "api/wire/report", "base/numbers", True)
move("const WHY", "WHY", "catalog/collectors", "model/run/measurement_summary")
move("export function whyNot", "whyNot", "catalog/collectors", "model/run/measurement_summary")
p = SRC / "catalog/collectors.ts"; t = p.read_text()
t = re.sub(r'import type \{ SignalState \} from "[^"]+";\n', "", t); t = re.sub(r'import \{ (WHY|whyNot) \} from "[^"]+";\n', "", t); p.write_text(t)
p = SRC / "model/run/measurement_summary.ts"; t = p.read_text()
if "SignalState" in t and not re.search(r"import[^;]*SignalState", t): add_import("model/run/measurement_summary", 'import type { SignalState } from "../../api/wire/report";')
src = SRC / "catalog/collectors.test.ts"
if src.exists():
    t = re.sub(r'"[./a-z_]*(measurement_summary|collectors)"', '"./why_not_measured"', src.read_text())
    (SRC / "model/run/why_not.test.ts").write_text(t.replace('"./why_not_measured"', '"./measurement_summary"')); src.unlink()
    q = SRC / "model/run/why_not.test.ts"; q.write_text(re.sub(r'"\.\./api', '"../../api', q.read_text()))
# floors
f = tree / "frontend/tests/floors.test.ts"; t = f.read_text()
LAY = Path(os.environ["LAYOUT"]).read_text(); s = LAY.index("const ALLOWED: Readonly"); table = LAY[s:LAY.index("};", s) + 2]
s = t.index("const ALLOWED"); table = table.replace('"panels/pieces": ["base", "lit-html"]', '"panels/pieces": ["model", "api/wire", "base", "lit-html"]')
t = t[:s] + table + t[t.index("};", s) + 2:]
s = t.index("const floorOf"); e = t.index("};\n", s) + 3
t = t[:s] + '''/** The entry with the longest path that holds a module. */
const floorOf = (path: string): string => {
  const name = path.replaceAll("\\\\", "/").replace(/\\.ts$/, "");
  const holds = (one: string): boolean => name === one || name.startsWith(`${one}/`);
  const found = Object.keys(ALLOWED).filter(holds);
  return found.sort((one, other) => other.length - one.length)[0] ?? name;
};
''' + t[e:]
f.write_text(t)
f = tree / "tests/unit/server/test_page_names.py"; t = f.read_text()
t = t.replace('MODEL = Path(__file__).parents[3] / "frontend" / "src" / "model"', 'CATALOG = Path(__file__).parents[3] / "frontend" / "src" / "catalog"').replace("(MODEL /", "(CATALOG /")
f.write_text(t)
t = f.read_text().replace('keys("lane.ts", "SHORT")', 'keys("../model/timeline/lane.ts", "SHORT")'); f.write_text(t)
