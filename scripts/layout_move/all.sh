# Moves the tree of the current folder into the layout: LAYOUT=path/to/LAYOUT.md bash scripts/layout_move/all.sh
# Copy this folder out of the tree first; each step leaves the tree with mypy clean. Then run the tests.
set -e
here=$(dirname "$(realpath "$0")")
tidy() { ruff check -q --fix --select I,F401 .; ruff format -q .; ruff check . | tail -20; mypy | tail -30; }
python "$here/move_modules.py" . && python "$here/post_move.py" . && python "$here/contracts.py" . && tidy && git add -A && git commit -qm "Move modules into folders by stage"
python "$here/refactor.py" . "$here/ops1.txt"; python "$here/post_ops1.py" .; tidy; git add -A; git commit -qm "Move shared names down"
python "$here/pre_merge.py" .; cat "$here/ops2.txt" "$here/merges.txt" >/tmp/ops; python "$here/refactor.py" . /tmp/ops; python "$here/aliases.py" .
sed -i 's/"match | suspects | moving | unexplained"/"match | suspects | unexplained"/' pyproject.toml; tidy; git add -A; git commit -qm "Merge modules of one job"
python "$here/move_tests.py" .; tidy; git add -A; git commit -qm "Let tests mirror the tree"
python "$here/move_ts.py" . && python "$here/post_ts.py" .
(cd frontend && npx biome lint --only=correctness/noUnusedImports --write --unsafe . >/dev/null; npx biome check --write . && npx tsc --noEmit && npx vitest run)
git add -A; git commit -qm "Move the page's modules into folders"
# The catalog: files/ holds the new modules; use_catalog*.py makes the code read them.
