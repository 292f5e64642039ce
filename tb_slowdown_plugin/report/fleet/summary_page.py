"""A fleet's summary as one HTML file, without a script and without a network."""

from __future__ import annotations

import html
from typing import Final

from tb_slowdown_plugin.catalog.causes import CAUSES, FAMILIES
from tb_slowdown_plugin.report.fleet.summary import FleetSummary
from tb_slowdown_plugin.report.fleet.summary_tables import (
    SummaryRow,
    SummaryTable,
    headline,
    sentences,
    summary_tables,
)
from tb_slowdown_plugin.report.formats.html_file import made_by, static_page

_STYLE: Final = """\
table {{ table-layout: fixed }}
td {{ overflow-wrap: break-word }}
.n {{ width: 5.5em }}
.chart {{ width: 22% }}
.weeks {{ height: 120px }}
.bar {{ fill: #69717b }}
.all {{ fill: #8884 }}
{colors}
@media (prefers-color-scheme: dark) {{
{dark}
}}
"""


def summary_html(summary: FleetSummary, *, made: float) -> str:
    """The page.

    Args:
      summary: What it shows.
      made: Unix seconds, now.
    """
    families = FAMILIES.values()
    style = _STYLE.format(
        colors="\n".join(f".f-{each.id} {{ fill: {each.light.fill} }}" for each in families),
        dark="\n".join(f".f-{each.id} {{ fill: {each.dark.fill} }}" for each in families),
    )
    body = (
        *(f"<p>{html.escape(each)}</p>" for each in sentences(summary)),
        *(_table(table, summary) for table in summary_tables(summary)),
        _broken(summary),
    )
    return static_page(
        title=headline(summary), style=style, body="\n".join(body), made=made_by("Made", made)
    )


def _table(table: SummaryTable, summary: FleetSummary) -> str:
    most = max(row.lost_hours for row in table.rows)
    has_own = any(row.of_own for row in table.rows)
    own = '<th class="n">of its own</th>' if has_own else ""
    rows = "\n".join(_row(row, most, has_own=has_own) for row in table.rows)
    more = f'<p class="small">and {table.left_out:,} more</p>' if table.left_out else ""
    plot = _weeks(summary) if table.by == "week of" else ""
    return f"""<h2>{html.escape(table.title)}</h2>
{plot}<div class="wide"><table>
<thead><tr><th>{html.escape(table.by)}</th><th class="n">runs</th><th class="n">hours lost</th>
<th class="n">of all lost</th>{own}<th class="chart"></th></tr></thead>
<tbody>
{rows}
</tbody>
</table></div>{more}"""


def _row(row: SummaryRow, most: float, *, has_own: bool) -> str:
    share = 100 * row.lost_hours / most if most else 0.0
    bar = f'<rect class="{_color(row.cause)}" width="{share:.2f}%" height="100%"/>'
    cells = "".join(
        f'<td class="n">{html.escape(text)}</td>'
        for text in (f"{row.runs:,}", row.lost, row.share, *([row.of_own] if has_own else []))
    )
    chart = f'<td class="chart"><svg role="presentation">{bar}</svg></td>'
    return f"<tr><td>{html.escape(row.name)}</td>{cells}{chart}</tr>"


def _color(cause: str) -> str:
    known = CAUSES.get(cause)
    return f"f-{known.family}" if known else "bar"


def _weeks(summary: FleetSummary) -> str:
    """A column for each week: run-hours, and those that were lost in front of them."""
    weeks = [row for row in summary.by_week if row["week"]]
    most = max((row["run_hours"] for row in weeks), default=0.0)
    if not most or len(weeks) < 2:
        return ""
    width = 100 / len(weeks)
    columns = []
    for place, row in enumerate(weeks):
        title = html.escape(f"{row['week']}: {row['lost_hours']:.4g} of {row['run_hours']:.4g} h")
        left = place * width + 0.1 * width
        for kind, key in (("all", "run_hours"), ("bar", "lost_hours")):
            height = 100 * row[key] / most
            columns.append(
                f'<rect class="{kind}" x="{left:.2f}%" y="{100 - height:.2f}%" '
                f'width="{0.8 * width:.2f}%" height="{height:.2f}%"><title>{title}</title></rect>'
            )
    label = f"Run-hours and lost hours of {len(weeks)} weeks, at most {most:.4g} hours per week"
    return f'<svg class="weeks" role="img" aria-label="{label}">{"".join(columns)}</svg>\n'


def _broken(summary: FleetSummary) -> str:
    if not summary.broken:
        return ""
    texts = (f"{row['logdir']}: {row['run']}: {row['reason']}" for row in summary.broken)
    entries = "\n".join(f"<li>{html.escape(text)}</li>" for text in texts)
    more = summary.unreadable - len(summary.broken)
    rest = f'<p class="small">and {more:,} more</p>' if more else ""
    return f"<h2>Could not be read</h2>\n<ul>\n{entries}\n</ul>{rest}"
