import re, sys
from pathlib import Path
tree = Path(sys.argv[1]); S = tree / "frontend/src"
# causes.ts
f = S / "catalog/causes.ts"; t = f.read_text()
s = t.index("export type Family"); e = t.index("export interface CauseKind")
t = t[:s] + 'import { CAUSE_ROWS, type Family, type Texture } from "./tables";\n\n' + t[e:]
s = t.index("export const CAUSES: readonly"); e = t.index("];\n", s) + 3
t = t[:s] + "export const CAUSES: readonly CauseKind[] = CAUSE_ROWS.map((row) => kind(...row));\n" + t[e:]
t = t.replace("export type { Family", "export type { Family")
if "export type { Family" not in t: t = t.replace('from "./tables";\n', 'from "./tables";\n\nexport type { Family, Texture };\n', 1)
f.write_text(t)
f = S / "catalog/collectors.ts"; t = f.read_text()
s = t.index("interface Collector {"); e = t.index("};\n", t.index("const COLLECTORS")) + 3
t = t[:s] + t[e:]
t = re.sub(r"/\*\*.*?\*/\n", "/** What each collector of the writer sees: its name for a reader, and the causes it makes visible. */\n", t, count=1, flags=re.S)
t = t.replace('import { sentence } from "./causes";', 'import { sentence } from "./causes";\nimport { COLLECTORS } from "./tables";')
f.write_text(t)
# tokens.css, hues.css
f = S / "styles/tokens.css"; t = f.read_text()
t = re.sub(r" *(--f-\w+: #\w+;|--on-\w+: #\w+; /\*[^*]*\*/)\n", "", t)
t = re.sub(r" */\* cause families: [^*]*\*/\n", "", t)
s = t.index("  /* one cause, one family hue"); e = t.index("  /* space: 4 px scale")
t = t[:s] + t[e:]
f.write_text(t)
f = S / "styles/hues.css"; t = f.read_text()
badge = t[t.index(".badge {"):]
f.unlink()
b = S / "styles/base.css"; b.write_text(b.read_text().rstrip("\n") + "\n\n" + badge)
f = S / "styles/index.ts"; t = f.read_text()
t = t.replace('import hues from "./hues.css?inline";\n', '').replace('import causes from "./causes.css?inline";', 'import catalog from "./catalog.css?inline";\nimport causes from "./causes.css?inline";').replace("  hues,\n", "").replace("  tokens,\n", "  tokens,\n  catalog,\n", 1)
f.write_text(t)
# README
f = tree / "README.md"; t = f.read_text()
s = t.index("| cause | what you are told | verified on |"); e = t.index("\n\n", s)
if "generate_catalog -->" not in t:
    t = t[:s] + "<!-- causes: scripts/generate_catalog -->\n" + t[s:e] + "\n<!-- end of causes -->" + t[e:]
f.write_text(t)
# gate
f = tree / "scripts/test"; t = f.read_text()
if "generate_catalog" not in t: t = t.replace('lint-imports --no-cache | tail -n 15\n', 'lint-imports --no-cache | tail -n 15\npython scripts/generate_catalog --check\n')
f.write_text(t)
# test of names: the catalog has what the writer has
f = tree / "tests/unit/server/test_page_names.py"
if f.exists(): f.unlink()
t = (tree / "tests/unit/catalog"); t.mkdir(exist_ok=True)
(t / "test_collectors.py").write_text('''"""The catalog has a name for each collector and each cause that they see."""

from __future__ import annotations

from tb_slowdown_plugin.catalog.causes import NAMED
from tb_slowdown_plugin.catalog.collectors import COLLECTORS, signal_of
from tb_slowdown_plugin.collectors import registry


def test_each_collector_of_the_writer_has_an_entry() -> None:
    known = {signal_of(one.name) for one in registry.create()}
    assert len(known) >= 20
    assert known | {"step_time"} == set(COLLECTORS)


def test_each_cause_that_a_collector_sees_is_one() -> None:
    seen = {cause for one in COLLECTORS.values() for cause in one.sees}
    assert seen <= set(NAMED)
    assert {"backward_pass", "warm_up"} == set(NAMED) - seen  # step times themselves show them
''')
(t / "test_causes.py").write_text('''"""Each cause can be told from the others without its title, and its generated tables are current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tb_slowdown_plugin.catalog.causes import CAUSES, FAMILIES, NAMED, Hue


def test_codes_and_looks_are_unique() -> None:
    codes = [one.code for one in CAUSES.values()]
    looks = [(one.family, one.texture) for one in CAUSES.values()]
    assert len(set(codes)) == len(codes) == 23
    assert len(set(looks)) == len(looks)
    assert {one.family for one in CAUSES.values()} == set(FAMILIES)
    assert len(NAMED) == 21


def luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_text_on_a_hue_can_be_read_and_the_hue_seen_on_the_page() -> None:
    for family in FAMILIES.values():
        for hue, page in ((family.light, "#ffffff"), (family.dark, "#242528")):
            assert isinstance(hue, Hue)
            assert contrast(hue.fill, hue.text) >= 4.5, family.id
            assert contrast(hue.fill, page) >= 3.0, family.id


def test_what_is_generated_is_current(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "scripts/generate_catalog", "--check"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
''')
