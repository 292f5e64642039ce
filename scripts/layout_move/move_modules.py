"""Applies step 1 of the layout to a tree: git mv, imports, dotted names, paths. python move_modules.py TREE"""
import ast, re, subprocess, sys
from collections import defaultdict
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
from layout import parse
PKG = "tb_slowdown_plugin"
tree = Path(sys.argv[1]).resolve()
moves, _ = parse()
EXTRA = {  # modules that are newer than the plan
}
try:
    from extra_moves import EXTRA
except ImportError: pass
moves.update(EXTRA)
moves = {o: n for o, n in moves.items() if (tree / PKG / (o.replace(".", "/") + ".py")).exists()}
full = {f"{PKG}.{o}": f"{PKG}.{n}" for o, n in moves.items()}
# packages named by their __init__
special = {f"{PKG}.{o[:-9]}": f"{PKG}.{n}" for o, n in moves.items() if o.endswith(".__init__") and o[:-9] and n != o}
special = {k: (v[:-9] if v.endswith(".__init__") else v) for k, v in special.items()}
special[f"{PKG}.traces"] = f"{PKG}.profiler"
full.update(special)
changed_modules = {o: n for o, n in full.items() if o != n}

def git(*a): subprocess.run(["git", "-C", str(tree), *a], check=True, capture_output=True, text=True)

def rewrite_imports(text: str) -> str:
    try: module = ast.parse(text)
    except SyntaxError: return text
    lines = text.splitlines(keepends=True)
    edits = []
    for node in ast.walk(module):
        if not isinstance(node, ast.ImportFrom) or not node.module or node.level: continue
        if not (node.module == PKG or node.module.startswith(PKG + ".")): continue
        groups = defaultdict(list); touched = False
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            if whole in full and not (tree / PKG / (node.module[len(PKG)+1:].replace(".", "/") or "x") / "nothing").exists() and is_module(whole):
                new = full[whole]; parent, base = new.rsplit(".", 1)
                asname = alias.asname or (alias.name if base != alias.name else None)
                groups[parent].append((base, asname)); touched |= new != whole
            else:
                parent = full.get(node.module, node.module)
                groups[parent].append((alias.name, alias.asname)); touched |= parent != node.module
        if not touched: continue
        indent = re.match(r"\s*", lines[node.lineno - 1])[0]
        out = ""
        for parent, names in groups.items():
            body = ", ".join(f"{n} as {a}" if a and a != n else n for n, a in names)
            one = f"{indent}from {parent} import {body}\n"
            if len(one) > 100:
                one = f"{indent}from {parent} import (\n" + "".join(f"{indent}    {n} as {a},\n" if a and a != n else f"{indent}    {n},\n" for n, a in names) + f"{indent})\n"
            out += one
        tail = lines[node.end_lineno - 1][node.end_col_offset:].strip()
        if tail.startswith("#"): out = out.rstrip("\n") + "  " + tail + "\n"
        edits.append((node.lineno - 1, node.end_lineno, out))
    for start, end, out in sorted(edits, reverse=True):
        lines[start:end] = [out]
    return "".join(lines)

modules_before = {f"{PKG}." + str(p.relative_to(tree / PKG))[:-3].replace("/", ".") for p in (tree / PKG).rglob("*.py")}
def is_module(dotted): return dotted in modules_before

dotted_re = re.compile(r"\btb_slowdown_plugin(?:\.\w+)+")
def rewrite_dotted(text):
    def sub(m):
        parts = m[0].split(".")
        for k in range(len(parts), 1, -1):
            head = ".".join(parts[:k])
            if head in done_new: return m[0]
            if head in changed_modules and (is_module(head) or head in special): return ".".join([changed_modules[head], *parts[k:]])
        return m[0]
    return dotted_re.sub(sub, text)
done_new = set()
def in_string(line):
    """`from X import a` inside of a string."""
    def sub(m):
        whole = f"{m[1]}.{m[2]}"
        if whole in full and is_module(whole) and full[whole] != whole:
            parent, base = full[whole].rsplit(".", 1)
            return f"from {parent} import {base}" + (f" as {m[2]}" if base != m[2] else "")
        return m[0]
    return re.sub(r"from (tb_slowdown_plugin[.\w]*) import (\w+)", sub, line)

paths = {}
for o, n in moves.items():
    if o != n:
        paths[o.replace(".", "/") + ".py"] = n.replace(".", "/") + ".py"
path_re = re.compile(r"(?<![\w/])(tb_slowdown_plugin/)?(" + "|".join(re.escape(p) for p in sorted(paths, key=len, reverse=True) if "/" in p) + r")\b")
def rewrite_paths(text):
    return path_re.sub(lambda m: (m[1] or "") + paths[m[2]], text)

files = subprocess.run(["git", "-C", str(tree), "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
texty = [f for f in files if f.endswith((".py", ".toml", ".md", ".yml", ".ts", ".ipynb", ".in", ".txt", ".proto", ".pyi")) or f.startswith("scripts/") or f == "setup.py"]
for f in texty:
    p = tree / f
    if "static/index.js" in f or f.endswith("slowdown_pb2.py") or not p.is_file(): continue
    try: text = p.read_text(encoding="utf-8")
    except UnicodeDecodeError: continue
    new = text
    if f.endswith(".py") or text.startswith("#!/usr/bin/env python") : new = rewrite_imports(new)
    # full dotted names; new names that happen to equal old names of other modules were rewritten already
    marked = new
    def protect(line): return line
    out = []
    skip = set()
    if f.endswith(".py") or text.startswith("#!/usr/bin/env python"):
        try:
            for n in ast.walk(ast.parse(marked)):
                if isinstance(n, ast.ImportFrom): skip.update(range(n.lineno, n.end_lineno + 1))
        except SyntaxError: pass
    for i, line in enumerate(marked.splitlines(keepends=True), 1):
        if i in skip: out.append(line)
        else: out.append(rewrite_dotted(in_string(line)))
    new = rewrite_paths("".join(out))
    if new != text: p.write_text(new, encoding="utf-8")

# moves, through temporary names since a file may become a folder of that name
tmp = []
for o, n in moves.items():
    if o == n: continue
    src = tree / PKG / (o.replace(".", "/") + ".py")
    t = src.with_name("__moving__" + src.name)
    git("mv", str(src), str(t)); tmp.append((t, n))
for t, n in tmp:
    dst = tree / PKG / (n.replace(".", "/") + ".py")
    dst.parent.mkdir(parents=True, exist_ok=True)
    git("mv", str(t), str(dst))
print("moved", len(tmp))
