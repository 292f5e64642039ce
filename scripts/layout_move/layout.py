"""Reads section 2.1 of LAYOUT.md: old module -> (new module at step 1), and merges."""
import os
import re, sys
from pathlib import Path
TEXT = Path(os.environ["LAYOUT"]).read_text()
part = TEXT[TEXT.index("### 2.1 Python"):TEXT.index("### 2.2 Frontend")]
def parse():
    moves = {}   # old dotted (below package) -> new dotted
    merges = {}  # new dotted -> [old dotted...]
    folder = None
    for line in part.splitlines():
        if m := re.fullmatch(r"\[(\S+)\]", line): folder = m[1].replace("/", "."); folder = "" if folder == "." else folder; continue
        m = re.match(r"(\S+)\.py\s+(\d+)\s+(.*)$", line)
        if not m or folder is None: continue
        name, _, rest = m.groups()
        rest = rest.split("#")[0].strip()
        new = f"{folder}.{name}" if folder else name
        if rest == "=": olds = [new]
        elif rest.startswith("new"): continue
        else: olds = [o.strip().replace("/", ".") for o in rest.split("+")]
        # "= + x"?
        olds = [new if o == "=" else o for o in olds]
        merges[new] = []
        for i, old in enumerate(olds):
            if i == 0: target = new
            else:
                base = old.split(".")[-1]
                if old.startswith("analysis.advice."): base = base + "_advice"
                target = f"{folder}.{base}" if folder else base
            moves[old] = target
            merges[new].append(target)
    return moves, merges
if __name__ == "__main__":
    moves, merges = parse()
    root = Path(sys.argv[1]) / "tb_slowdown_plugin"
    have = {str(p.relative_to(root))[:-3].replace("/", ".") for p in root.rglob("*.py")}
    print("not mapped:", sorted(have - set(moves)))
    print("missing:", sorted(set(moves) - have))
    from collections import Counter
    print("dups:", [k for k, v in Counter(moves.values()).items() if v > 1])
    print(len(moves), sum(len(v) > 1 for v in merges.values()))
