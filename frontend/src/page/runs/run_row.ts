/** A run as a row of the table, and the row that begins an experiment. */

import { html, nothing, type TemplateResult } from "lit-html";
import {
  ago,
  clock,
  count,
  decimal,
  MISSING,
  percent,
  plain,
  plural,
  stepTime,
} from "../../base/format";
import { causeKind } from "../../catalog/causes";
import { badge } from "../../charts/badge";
import { formatAddress } from "../../model/address";
import { type Column, lostOf, type Row } from "../../model/runs/columns";
import { type Group, middle } from "../../model/runs/groups";
import { verdictText } from "../../model/runs/verdict_text";
import type { App } from "../app";

export interface RowLook {
  readonly app: App;
  readonly picked: readonly string[];
  readonly columns: readonly Column[];
  readonly width: number;
  readonly now: number;
}

const WIDE = 1180;
const NARROW = 700;

/** Letters of a name that have room. */
const room = (width: number): number => (width > WIDE ? 40 : width > NARROW ? 28 : 20);

export function groupHead(look: RowLook, group: Group, closed: readonly string[]): TemplateResult {
  const isClosed = closed.includes(group.name);
  const others = closed.filter((one) => one !== group.name);
  const slow =
    group.slow > 0
      ? `, ${count(group.slow)} with a slowdown, at most ${percent(group.worst)} lost`
      : "";
  return html`<tr class="group"><th scope="rowgroup" colspan=${look.columns.length + 1}>
    <button class="tw" aria-expanded=${isClosed ? "false" : "true"} @click=${() =>
      look.app.list({
        closed: isClosed ? others : [...others, group.name],
      })}><span aria-hidden="true">${isClosed ? "▸" : "▾"}</span> <b><bdi>${group.path.replace(/\/$/, "") || group.name || "Others"}</bdi></b></button>
    <span class="q">${plural(group.rows.length, "run")}${slow}</span></th></tr>`;
}

export function runRow(look: RowLook, row: Row, path: string): TemplateResult {
  const { run } = row;
  const isPicked = look.picked.includes(run.run);
  return html`<tr class=${isPicked ? "sel" : ""}>
    <td><input type="checkbox" tabindex="-1" aria-label=${`Choose ${run.title}`} .checked=${isPicked} @change=${() => look.app.pick(run.run)}></td>
    ${look.columns.map((column) => cell(look, row, column, path))}
  </tr>`;
}

function cell(look: RowLook, row: Row, column: Column, path: string): TemplateResult {
  const { run, found } = row;
  const digest = found?.digest;
  switch (column.id) {
    case "run": {
      const name = run.title.slice(path.length);
      return html`<td class="name"><a class="run" href=${formatAddress({ run: run.run })} title=${run.title} data-run=${run.run} @click=${(
        event: MouseEvent,
      ) => open(event, look.app, run.run)}><bdi>${middle(name, room(look.width))}</bdi></a></td>`;
    }
    case "verdict":
      return html`<td class="nw" title=${found?.error || digest?.headline || nothing}>${verdictText(row)}</td>`;
    case "lost":
      return html`<td class="num"><span class="share"><i style=${`width:${(100 * (lostOf(row) ?? 0)).toFixed(1)}%`}></i></span><span class="figure">${percent(lostOf(row))}</span></td>`;
    case "cause":
      return html`<td class="cause-name">${
        digest?.cause == null
          ? html`<span class="q">${MISSING}</span>`
          : html`${badge(digest.cause)} ${causeKind(digest.cause).name} <span class="q subject" title=${digest.subject}>${subjectOf(digest.subject)}</span>`
      }</td>`;
    case "since":
      return html`<td class="num">${count(digest?.since_step)}</td>`;
    case "step":
      return html`<td class="num nw">${stepTime(digest?.step_seconds)}</td>`;
    case "pace":
      return html`<td>${pace(row)}</td>`;
    case "rate": {
      const items = digest?.items_per_second ?? null;
      return html`<td class="num nw">${items === null ? rate(digest?.steps_per_second, "steps") : rate(items, "items")}</td>`;
    }
    case "steps":
      return html`<td class="num">${count(run.steps)}</td>`;
    case "when":
      return html`<td class="num q nw" title=${run.reported === null ? nothing : clock(run.reported)}>${run.reported === null ? MISSING : ago(look.now - run.reported)}</td>`;
    default: {
      const value = column.value(row);
      const text = value === null ? MISSING : typeof value === "number" ? plain(value) : value;
      return html`<td class=${`${column.numeric ? "num" : ""} nw setting`} title=${text}>${middle(text, 22)}</td>`;
    }
  }
}

const WHAT_OF = [/: (.+)$/, / of (.+)$/, / in (\S+ \(.+\)|\S+:\d+)$/, /^the (.+?) callback/];

/** "retracing of train_step (train.py:41)" without what the cause says already. */
export const subjectOf = (subject: string): string => {
  const [of] = WHAT_OF.flatMap((pattern) => pattern.exec(subject)?.[1] ?? []);
  return of === undefined ? "" : middle(of, 34);
};

const rate = (value: number | null | undefined, unit: string): string =>
  value == null ? MISSING : `${decimal(value, value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}/s`;

/** A click with a key held is the browser's: another tab, another window. */
function open(event: MouseEvent, app: App, run: string): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  app.choose(run);
}

const WIDTH = 96;
const HEIGHT = 20;

/** Step time over the run, from zero on. */
function pace({ found }: Row): TemplateResult {
  const bars = found?.digest?.spark ?? [];
  if (bars.length < 2) return html``;
  const top = Math.max(...bars) || 1;
  const points = bars.map((seconds, index) => {
    const x = (index / (bars.length - 1)) * WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - 1 - (seconds / top) * (HEIGHT - 3)).toFixed(1)}`;
  });
  const text = `${stepTime(bars[0])} to ${stepTime(bars.at(-1))}`;
  return html`<svg class="pace" role="img" aria-label=${text} width=${WIDTH} height=${HEIGHT} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`}><polyline points=${points.join(" ")} /></svg>`;
}
