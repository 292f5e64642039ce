"""Where this package and its page are on disk."""

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent
STATIC: Final = PACKAGE / "static"
"""The built frontend: `index.js`, which fetches `below.js`, and `report.js`, which is both."""
