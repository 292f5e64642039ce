"""On the path of a TensorBoard it has that use its own stub instead of importing TensorFlow."""

import sys
from types import ModuleType

sys.modules["tensorboard.compat.notf"] = ModuleType("tensorboard.compat.notf")
