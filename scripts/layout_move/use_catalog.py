"""Makes the code read the catalog of causes. Rerunnable on the moved tree."""
import re, sys
from pathlib import Path
tree = Path(sys.argv[1]); P = tree / "tb_slowdown_plugin"
for p in [*P.rglob("*.py"), *(tree/"scripts").glob("*.py")]:
    if p.name == "causes.py" and p.parent.name == "catalog": continue
    t = p.read_text(); n = t
    if "catalog.causes import CAUSES" not in t: continue
    n = re.sub(r"\bCAUSES\.get\(([\w.]+), \1\)", r"cause_title(\1)", n)
    n = re.sub(r"\bCAUSES\[([^\]]+)\]", r"cause_title(\1)", n)
    rest = re.sub(r"from tb_slowdown_plugin.catalog.causes import CAUSES", "", n)
    both = "CAUSES, cause_title" if re.search(r"\bCAUSES\b", rest) else "cause_title"
    n = n.replace("catalog.causes import CAUSES", f"catalog.causes import {both}")
    if n != t: p.write_text(n)
f = P / "report/ansi.py"; t = f.read_text()
s = t.index("_FAMILIES: Final"); e = t.index("_GREY: Final"); 
t = t[:s] + t[e:]
t = t.replace("_GREY: Final = 244\n", "")
t = t.replace('return f"\\x1b[38;5;{_FAMILIES.get(cause, _GREY)}m"', 'known = CAUSES.get(cause)\n    return f"\\x1b[38;5;{FAMILIES[known.family if known else \'neutral\'].terminal}m"')
t = t.replace("from typing import Final\n", "from typing import Final\n\nfrom tb_slowdown_plugin.catalog.causes import CAUSES, FAMILIES\n", 1)
f.write_text(t)
