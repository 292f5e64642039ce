import ast, re, sys
from pathlib import Path
tree = Path(sys.argv[1]); P = tree / "tb_slowdown_plugin"
mods = {"tb_slowdown_plugin." + str(p.relative_to(P))[:-3].replace("/", ".") for p in P.rglob("*.py")}
KEEP = {"pb", "_monitor", "monitors", "tbslow"}
for p in P.rglob("*.py"):
    t = p.read_text(); node = ast.parse(t); n2 = t
    al = {}
    for n in ast.walk(node):
        if isinstance(n, ast.ImportFrom) and n.module:
            for a in n.names:
                if a.asname and f"{n.module}.{a.name}" in mods and a.asname not in KEEP: al[a.asname] = a.name
    for a, m in al.items():
        other = {x.id for x in ast.walk(node) if isinstance(x, ast.Name)} | {x.arg for x in ast.walk(node) if isinstance(x, ast.arg)} | {x.name for x in ast.walk(node) if isinstance(x, (ast.FunctionDef, ast.ClassDef))}
        if m in other: print("kept", p.relative_to(P), a, m); continue
        n2 = re.sub(rf"\b{m} as {a}\b", m, n2); n2 = re.sub(rf"(?<![\w.]){a}\.(?=\w)", f"{m}.", n2)
    if n2 != t: p.write_text(n2)
