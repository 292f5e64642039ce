"""`import tbslow.auto`: what `tbslow run` does, where the command line isn't the user's."""

import os

from tb_slowdown_plugin.writer.launch.without_command import begin

begin(os.environ)
