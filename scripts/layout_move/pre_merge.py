import re, sys
from pathlib import Path
P = Path(sys.argv[1]) / "tb_slowdown_plugin"
f = P / "analysis/causes/compile/retracing.py"; t = f.read_text()
t = t.replace("import recreated_objects as advice", "import recreated_objects"); t = re.sub(r"\badvice\.(?=\w)", "recreated_objects.", t); f.write_text(t)
