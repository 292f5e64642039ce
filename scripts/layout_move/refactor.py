"""Moves top-level definitions between modules and merges modules, rewriting imports in a tree.
refactor.py TREE OPS.txt     lines: move SRC NAME[,NAME] DST   |  merge SRC DST  | rename MODULE OLD NEW
SRC, DST are dotted names below the package. SRC of merge disappears."""
import ast, builtins, re, subprocess, sys
from collections import defaultdict
from pathlib import Path
PKG = "tb_slowdown_plugin"
tree = Path(sys.argv[1]).resolve()

def path_of(mod): return tree / PKG / (mod.replace(".", "/") + ".py")
def py_files():
    out = subprocess.run(["git", "-C", str(tree), "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True).stdout.splitlines()
    res = []
    for f in sorted(set(out)):
        p = tree / f
        if not p.is_file() or f.endswith("_pb2.py") : continue
        if f.endswith(".py") or (f.startswith("scripts/") and p.read_text(errors="ignore").startswith("#!/usr/bin/env python")): res.append(p)
    return res

class Mod:
    """A module as chunks of top-level statements with the text that belongs to each."""
    def __init__(self, text):
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.node = ast.parse(text)
        body = self.node.body
        self.doc = ast.get_docstring(self.node, clean=False)
        self.chunks = []  # (kind, names, start, end, node)
        i = 0
        if self.doc is not None: i = 1
        prev_end = body[0].end_lineno if self.doc is not None else 0
        while i < len(body):
            node = body[i]; start = node.lineno
            if getattr(node, "decorator_list", None): start = min(d.lineno for d in node.decorator_list)
            end = node.end_lineno
            # comments directly above
            k = start - 1
            while k - 1 >= prev_end and self.lines[k - 1].lstrip().startswith("#") and not self.lines[k-1].startswith(" "): k -= 1
            start = k + 1
            if i + 1 < len(body) and isinstance(body[i+1], ast.Expr) and isinstance(body[i+1].value, ast.Constant) and isinstance(body[i+1].value.value, str) and isinstance(node, (ast.Assign, ast.AnnAssign)):
                end = body[i+1].end_lineno; i += 1
            kind = "import" if isinstance(node, (ast.Import, ast.ImportFrom)) else "typing" if is_type_checking(node) else "def"
            self.chunks.append((kind, names_of(node), start, end, node))
            prev_end = end
            i += 1
    def body_text(self, chunk): return "".join(self.lines[chunk[2]-1:chunk[3]])

def is_type_checking(node): return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
def names_of(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): return [node.name]
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)] + [e.id for t in node.targets if isinstance(t, ast.Tuple) for e in t.elts if isinstance(e, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name): return [node.target.id]
    if isinstance(node, (ast.Import, ast.ImportFrom)): return [(a.asname or a.name).split(".")[0] for a in node.names]
    return []
def used(text):
    """Every identifier in the code and in annotations given as strings."""
    found = set()
    for n in ast.walk(ast.parse(text)):
        if isinstance(n, ast.Name): found.add(n.id)
        elif isinstance(n, ast.Constant) and isinstance(n.value, str): found.update(re.findall(r"\b[A-Za-z_]\w*\b", n.value) if len(n.value) < 80 else ())
    return found
def used_strict(text):
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}

def imports_of(mod):
    """local name -> (import statement one-liner, in TYPE_CHECKING)"""
    res = {}
    def take(node, tc):
        if isinstance(node, ast.ImportFrom):
            for a in node.names: res[a.asname or a.name] = (f"from {'.'*node.level}{node.module or ''} import {a.name}" + (f" as {a.asname}" if a.asname else ""), tc)
        elif isinstance(node, ast.Import):
            for a in node.names: res[a.asname or a.name.split(".")[0]] = (f"import {a.name}" + (f" as {a.asname}" if a.asname else ""), tc)
    for kind, _, _, _, node in mod.chunks:
        if kind == "import": take(node, False)
        if kind == "typing":
            for n in node.body: take(n, True)
    return res

def rename_in(text, old, new):
    """Renames a bare identifier (names only, not attributes, not keyword arguments)."""
    node = ast.parse(text); lines = text.splitlines(keepends=True); spots = []
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and n.id == old: spots.append((n.lineno, n.col_offset, len(old)))
        elif isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == old:
            off = lines[n.lineno-1].encode().index(old.encode()); spots.append((n.lineno, off, len(old)))
    for ln, off, size in sorted(set(spots), reverse=True):
        raw = lines[ln-1].encode(); lines[ln-1] = (raw[:off] + new.encode() + raw[off+size:]).decode()
    return "".join(lines)

def fix_importers(mapping):
    """mapping: (old module full, name) -> (new module full, new name); or (old module full, None) -> new module full."""
    whole = {o: n for (o, k), n in mapping.items() if k is None}
    named = {k: v for k, v in mapping.items() if k[1] is not None}
    mods = {o for o, _ in mapping}
    for p in py_files():
        text = p.read_text(encoding="utf-8")
        if not any(m.rsplit(".", 1)[1] in text for m in mods): continue
        node = ast.parse(text); lines = text.splitlines(keepends=True); edits = []
        for n in ast.walk(node):
            if isinstance(n, ast.ImportFrom) and n.module and not n.level:
                groups = defaultdict(list); touched = False
                for a in n.names:
                    key = (n.module, a.name); full = f"{n.module}.{a.name}"
                    if key in named:
                        m, nn = named[key]; touched = True
                        groups[m].append((nn, a.asname or (a.name if nn != a.name else None)))
                    elif n.module in whole:
                        groups[whole[n.module]].append((a.name, a.asname)); touched = True
                    elif full in whole:
                        par, base = whole[full].rsplit(".", 1); touched = True
                        groups[par].append((base, a.asname or a.name))
                    else: groups[n.module].append((a.name, a.asname))
                if touched:
                    ind = re.match(r"\s*", lines[n.lineno-1])[0]; out = ""
                    for m, names in groups.items():
                        out += f"{ind}from {m} import (\n" + "".join(f"{ind}    {x} as {y},\n" if y and y != x else f"{ind}    {x},\n" for x, y in names) + f"{ind})\n"
                    tail = lines[n.end_lineno-1][n.end_col_offset:].strip()
                    if tail.startswith("#"): out = out.replace("(\n", "(  " + tail + "\n", 1)
                    edits.append((n.lineno-1, n.end_lineno, out))
        for s, e, out in sorted(edits, reverse=True): lines[s:e] = [out]
        new = "".join(lines)
        for o, nw in whole.items():
            par, base = o.rsplit(".", 1); npar, nbase = nw.rsplit(".", 1)
            new = re.sub(rf"from {re.escape(par)} import {base}\b(?! as)", f"from {npar} import {nbase} as {base}", new)
            new = re.sub(re.escape(o) + r"\b(?!\.?\w*/)", nw, new)
            op, np_ = o.replace(".", "/") + ".py", nw.replace(".", "/") + ".py"
            new = new.replace(op, np_).replace(op[len(PKG)+1:], np_[len(PKG)+1:])
        for (o, k), (m, nn) in named.items(): new = new.replace(f'"{o}.{k}"', f'"{m}.{nn}"')
        if new != text: p.write_text(new, encoding="utf-8")
    for f in ("pyproject.toml", "mkdocs.yml", "setup.py", "CONTRIBUTING.md", "README.md", *[str(x.relative_to(tree)) for x in (tree/"docs").rglob("*.md")], "tb_slowdown_plugin/server/http_api.md"):
        p = tree / f
        if not p.exists(): continue
        text = new = p.read_text(encoding="utf-8")
        for o, nw in whole.items():
            new = re.sub(re.escape(o) + r"\b", nw, new)
            op, np_ = o.replace(".", "/") + ".py", nw.replace(".", "/") + ".py"
            new = new.replace(op, np_).replace(op[len(PKG)+1:], np_[len(PKG)+1:])
        if new != text: p.write_text(new, encoding="utf-8")

def build(doc_text, head, imports, tc_imports, chunks):
    out = (f'"""{doc_text}"""\n\n' if doc_text is not None else "") + "from __future__ import annotations\n\n"
    out += "\n".join(sorted(set(imports) - {"from __future__ import annotations"})) + "\n"
    if tc_imports:
        out += "\nif TYPE_CHECKING:\n" + "".join(f"    {i}\n" for i in sorted(set(tc_imports)))
    return out + "\n" + "\n".join(c.rstrip("\n") + "\n" for c in chunks)

def order(chunks_src, chunks_dst):
    """dst's chunks then src's, with what is used at import time moved before its use."""
    return chunks_dst + chunks_src

def import_time_names(node):
    """Names that a top-level statement needs when the module is executed."""
    need = set()
    def expr(e):
        for n in ast.walk(e):
            if isinstance(n, ast.Name): need.add(n.id)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for d in node.decorator_list: expr(d)
        for d in node.args.defaults + [x for x in node.args.kw_defaults if x]: expr(d)
    elif isinstance(node, ast.ClassDef):
        for d in node.decorator_list + node.bases + [k.value for k in node.keywords]: expr(d)
        for b in node.body:
            if isinstance(b, ast.Assign): expr(b.value)
            elif isinstance(b, ast.AnnAssign) and b.value is not None: expr(b.value)
            elif isinstance(b, ast.FunctionDef): need.update(import_time_names(b))
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None: expr(node.value)
    else: expr(node)
    return need

def sort_chunks(chunks):
    """Stable: constants first where needed; a chunk comes after those it needs at import."""
    nodes = [(ast.parse(c).body[0], c) for c in chunks]
    names = {}
    for i, (n, _) in enumerate(nodes):
        for x in names_of(n): names.setdefault(x, i)
    done, out, active = set(), [], set()
    def visit(i):
        if i in done or i in active: return
        active.add(i)
        for x in sorted(import_time_names(nodes[i][0])):
            j = names.get(x)
            if j is not None and j != i: visit(j)
        active.discard(i); done.add(i); out.append(nodes[i][1])
    # constants (assignments) of both first, then the rest, in order
    first = [i for i, (n, _) in enumerate(nodes) if isinstance(n, (ast.Assign, ast.AnnAssign))]
    for i in first: visit(i)
    for i in range(len(nodes)): visit(i)
    return out

def merge(src, dst):
    ps, pd = path_of(src), path_of(dst)
    s, d = Mod(ps.read_text()), Mod(pd.read_text())
    fs, fd = f"{PKG}.{src}", f"{PKG}.{dst}"
    s_imp, d_imp = imports_of(s), imports_of(d)
    s_defs = {n for c in s.chunks if c[0] == "def" for n in c[1]}
    d_defs = {n for c in d.chunks if c[0] == "def" for n in c[1]}
    s_chunks = [s.body_text(c) for c in s.chunks if c[0] == "def"]
    d_chunks = [d.body_text(c) for c in d.chunks if c[0] == "def"]
    # imports of each other
    def module_alias(imps, full):
        par, base = full.rsplit(".", 1)
        return [k for k, (st, _) in imps.items() if st == f"from {par} import {base}" or st.startswith(f"from {par} import {base} as ")]
    for imps, chunks_name, other in ((d_imp, "d", fs), (s_imp, "s", fd)):
        al = module_alias(imps, other)
        chunks = d_chunks if chunks_name == "d" else s_chunks
        for a in al:
            chunks[:] = [re.sub(rf"\b{a}\.(?=\w)", "", c) for c in chunks]
            del imps[a]
        for k in [k for k, (st, _) in imps.items() if st.startswith(f"from {other} import ")]:
            st = imps.pop(k)[0]
            if " as " in st:
                real = st.split(" import ")[1].split(" as ")[0]
                chunks[:] = [rename_in(c, k, real) for c in chunks]
    collide = s_defs & d_defs
    suffix = src.split(".")[-1].replace("_advice", "_fix")
    mapping = {(fs, None): fd}
    for name in sorted(collide):
        cs = next(c for c in s.chunks if name in c[1]); cd = next(c for c in d.chunks if name in c[1])
        if s.body_text(cs).strip() == d.body_text(cd).strip():
            s_chunks = [c for c in s_chunks if c.strip() != s.body_text(cs).strip()]; print(f"  same {name} in {src}, {dst}: kept once"); continue
        if name == "__all__": continue
        new = f"{name}_OF_{suffix.upper()}" if name.isupper() or name.lstrip("_").isupper() else f"{name}_of_{suffix}"
        print(f"  COLLISION {name}: {src} -> {new}")
        s_chunks = [rename_in(c, name, new) for c in s_chunks]; mapping[(fs, name)] = (fd, new)
    # import names of one that are definitions or other imports of the other
    for k in list(s_imp):
        if k in d_defs: print(f"  SHADOW import {k} of {src} is a definition of {dst}")
        if k in d_imp and d_imp[k][0] != s_imp[k][0]: print(f"  SHADOW import {k} differs: {s_imp[k][0]} | {d_imp[k][0]}")
    for k in d_imp:
        if k in s_defs: print(f"  SHADOW import {k} of {dst} is a definition of {src}")
    imports = {**s_imp, **d_imp}
    plain = [st for st, tc in imports.values() if not tc]; tcs = [st for st, tc in imports.values() if tc and st not in plain]
    doc = d.doc
    if s.doc:
        doc = (d.doc or "").rstrip("\n") + "\n\n" + s.doc.strip("\n").rstrip() + "\n"
    pd.write_text(build(doc, None, plain, tcs, sort_chunks(d_chunks + s_chunks)))
    subprocess.run(["git", "-C", str(tree), "rm", "-q", "-f", "--cached", str(ps)], check=False); ps.unlink()
    fix_importers(mapping)

def move(src, names, dst):
    ps, pd = path_of(src), path_of(dst)
    if not pd.exists():
        pd.write_text(f'"""TODO {dst}."""\n\nfrom __future__ import annotations\n')
    s, d = Mod(ps.read_text()), Mod(pd.read_text())
    fs, fd = f"{PKG}.{src}", f"{PKG}.{dst}"
    s_imp, d_imp = imports_of(s), imports_of(d)
    s_defs = {n for c in s.chunks if c[0] == "def" for n in c[1]}
    d_defs = {n for c in d.chunks if c[0] == "def" for n in c[1]}
    missing = set(names) - s_defs
    if missing: print("  MISSING", missing, src); names = [n for n in names if n not in missing]
    moved = [s.body_text(c) for c in s.chunks if c[0] == "def" and set(c[1]) & set(names)]
    kept = [s.body_text(c) for c in s.chunks if c[0] == "def" and not set(c[1]) & set(names)]
    for n in names:
        if n in d_defs: print("  COLLISION", n, dst)
    need = set().union(*(used(c) for c in moved)) if moved else set()
    add = {k: v for k, v in s_imp.items() if k in need and k not in d_defs}
    for k in need & (s_defs - set(names)):
        if k in set().union(*(used_strict(c) for c in moved)):
            print(f"  BACK {dst} needs {k} of {src}"); add[k] = (f"from {fs} import {k}", False)
    add = {k: v for k, v in add.items() if not v[0].startswith(f"from {fd} import ")}
    imports = {**add, **d_imp}
    for k in [k for k, (st, _) in imports.items() if st.startswith(f"from {fs} import ") and st.split(" import ")[1].split(" as ")[0] in names]: del imports[k]
    d_chunks = [d.body_text(c) for c in d.chunks if c[0] == "def"]
    plain = [st for st, tc in imports.values() if not tc]; tcs = [st for st, tc in imports.values() if tc and st not in plain]
    pd.write_text(build(d.doc, None, plain, tcs, sort_chunks(d_chunks + moved)))
    # the source: takes the names back by import where it uses them
    back = [n for n in names if any(n in used(c) for c in kept)]
    src_imports = dict(s_imp)
    for n in back: src_imports[n] = (f"from {fd} import {n}", False)
    plain = [st for st, tc in src_imports.values() if not tc]; tcs = [st for st, tc in src_imports.values() if tc and st not in plain]
    ps.write_text(build(s.doc, None, plain, tcs, kept))
    fix_importers({(fs, n): (fd, n) for n in names})

def rename(mod, old, new):
    p = path_of(mod); text = p.read_text()
    p.write_text(rename_in(text, old, new))
    fix_rename(f"{PKG}.{mod}", old, new)

def fix_rename(full, old, new):
    for p in py_files():
        text = p.read_text(encoding="utf-8")
        if old not in text: continue
        node = ast.parse(text)
        hit = [n for n in ast.walk(node) if isinstance(n, ast.ImportFrom) and n.module == full and any(a.name == old for a in n.names)]
        if not hit: continue
        aliased = any(a.name == old and a.asname for n in hit for a in n.names)
        lines = text.splitlines(keepends=True)
        for n in hit:
            for i in range(n.lineno-1, n.end_lineno): lines[i] = re.sub(rf"\b{old}\b", new, lines[i])
        text2 = "".join(lines)
        if not aliased: text2 = rename_in(text2, old, new)
        p.write_text(text2, encoding="utf-8")

if __name__ == "__main__":
    for line in Path(sys.argv[2]).read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line: continue
        op, *a = line.split()
        print(line)
        try:
            if op == "merge": merge(a[0], a[1])
            elif op == "move": move(a[0], a[1].split(","), a[2])
            elif op == "rename": rename(*a)
        except Exception as e:
            print("  FAILED", type(e).__name__, e); raise
