"""The frame of each HTML file: one head for all, one style for those without a script."""

from __future__ import annotations

import html
from datetime import datetime, timezone
from typing import Final

from tb_slowdown_plugin._version import __version__

_FILE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
{body}
</body>
</html>
"""

_STATIC_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"

_STATIC_STYLE: Final = """\
:root { color-scheme: light dark }
body { max-width: 60em; margin: 2em auto; padding: 0 1em; font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.4em }
h2 { font-size: 1.1em; margin: 2em 0 0.5em }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { padding: 4px 8px; text-align: left; border-bottom: 1px solid #8885 }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
svg { display: block; width: 100%; height: 14px }
.small { font-size: 0.85em; opacity: 0.8 }
"""


def html_file(*, title: str, policy: str, style: str, body: str) -> str:
    """A whole file.

    Args:
      title: As text.
      policy: Its content security policy.
      style: CSS.
      body: HTML.
    """
    return _FILE.format(title=html.escape(title), policy=policy, style=style, body=body)


def static_page(*, title: str, style: str, body: str, made: str) -> str:
    """A file that loads nothing and runs nothing.

    Args:
      title: As text; its heading, too.
      style: What its CSS has in addition.
      body: HTML below the heading.
      made: From `made_by`.
    """
    return html_file(
        title=title,
        policy=_STATIC_POLICY,
        style=_STATIC_STYLE + style,
        body=f'<h1>{html.escape(title)}</h1>\n{body}\n<p class="small">{html.escape(made)}</p>',
    )


def made_by(verb: str, made: float) -> str:
    """When a file was made, by which version.

    Args:
      verb: What was done, such as "Compared".
      made: Unix seconds.
    """
    when = datetime.fromtimestamp(made, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return f"{verb} on {when} by tbslow {__version__}"
