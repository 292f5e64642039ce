"""Where this package and its page are on disk."""

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent
PAGE: Final = PACKAGE / "static" / "index.js"
