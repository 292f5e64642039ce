"""A program: what the tab says of runs at an address, where TensorFlow is not installed.

remote_tab.py ADDRESS RUN
"""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

# TensorBoard's own switch for a process without TensorFlow.
sys.modules["tensorboard.compat.notf"] = types.ModuleType("tensorboard.compat.notf")
sys.path.insert(0, str(Path(__file__).parent.parent))

from tensorboard_loader import TensorBoard, serve  # noqa: E402
from werkzeug.test import Client  # noqa: E402

from tb_slowdown_plugin.analysis.live.follow import follow  # noqa: E402
from tb_slowdown_plugin.server.plugin import SlowdownPlugin  # noqa: E402
from tb_slowdown_plugin.server.runs import Runs  # noqa: E402

if __name__ == "__main__":
    _, address, run = sys.argv
    runs = Runs(TensorBoard(address).catalogue, follow, logdir=address)
    client = Client(serve(SlowdownPlugin(runs)))
    routes = ("runs", f"report?run={run}", f"captures?run={run}")
    answers = [client.get(f"/data/plugin/slowdown/{route}").get_json() for route in routes]
    sys.stdout.write(json.dumps(answers) + "\n")
