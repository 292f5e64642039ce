from tb_slowdown_plugin.summary import *  # noqa: F403 - each public name
