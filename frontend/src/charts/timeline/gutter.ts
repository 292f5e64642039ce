/** Names, scales and values at the left of the timeline, and the tooltip of its stack. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { Retraces } from "../../api/wire/retraces";
import { count, decimal, duration, MISSING, stepTime } from "../../base/format";
import { logTicks } from "../../base/ticks";
import { causeKind, HEALTHY } from "../../catalog/causes";
import { collectorTitle } from "../../catalog/collectors";
import { step } from "../../model/run/retrace_reason";
import { laneText } from "../../model/timeline/lane";
import { atBucket, MARKS, notesAt, type Scene } from "../../model/timeline/scene";
import { badge } from "../badge";
import { stackTicks, stackY } from "./paint/paint_stack";
import type { Layout, Row } from "./rows";
import type { LayerChoice, TimelineInput } from "./timeline_input";

export function gutter(input: TimelineInput, layout: Layout): TemplateResult {
  return html`${layout.rows.map((row) => gutterRow(input, row))}${yLabels(input, layout)}`;
}

function gutterRow(input: TimelineInput, row: Row): TemplateResult {
  const style = `height:${row.height}px`;
  switch (row.kind) {
    case "epochs": {
      const epochs = input.whole.timeline.epochs.length;
      return html`<div style=${style}><span class="s q">${epochs > 0 ? "Epoch" : ""}</span></div>`;
    }
    case "notes":
      return html`<div style=${style}><span class="s q">Notes</span></div>`;
    case "stack":
      return html`<div class="top" style=${style}>
        <b>Seconds per step</b><span class="s q all">mean; ▲ cut off</span>
        <div class="all legend">${legend(input.detail)}</div>
      </div>`;
    case "time":
      return html`<div class="top" style=${style}>
        <b>Step time</b><span class="s q all">median, min to max; log</span>
      </div>`;
    case "marks": {
      const title = MARKS.find((mark) => mark.kind === row.mark)?.title ?? "";
      const { from, to } = input.view;
      const marks = (input.whole.timeline.marks[row.mark ?? "gc"] ?? []).filter(
        (mark) => mark.row >= from && mark.row < to,
      );
      const number =
        row.mark === "captures"
          ? input.captures.length
          : marks.reduce((sum, mark) => sum + mark.count, 0);
      return html`<div style=${style}><span class="n">${title}</span><span class="v q">${count(number)}</span></div>`;
    }
    case "lane":
      return html`<div style=${style}>
        <span class="n" title=${row.lane?.fullTitle ?? ""}>${row.lane?.title ?? ""}</span>
        <span class="v" data-value=${row.key}></span>
        <span class="s q all">${(input.detail.lanes.find(({ id }) => id === row.lane?.id) ?? row.lane)?.scale ?? ""}</span>
      </div>`;
    case "unmeasured": {
      const name = collectorTitle(row.key.replace("unmeasured-", ""));
      return html`<div style=${style}><span class="n q" title=${name}>${name}</span><span class="v q">–</span></div>`;
    }
    case "axis":
      return html`<div style=${style}><span class="s q">${input.axis === "steps" ? "Step" : "Time since the start"}</span></div>`;
  }
}

/** The value of a lane at a row, in the unit of the lane's scale. */
export function valueText(key: string, input: TimelineInput, row: number): string {
  const lane = input.whole.lanes.find((one) => `lane-${one.id}` === key);
  if (lane === undefined) return MISSING;
  const near = input.detail.lanes.find((one) => one.id === lane.id) ?? lane;
  return laneText({ ...near, high: lane.high }, row);
}

function legend(scene: Scene): TemplateResult {
  const drawn = scene.layers.map(({ id }) => id);
  const all = drawn.length === scene.legend.length;
  return html`${[...scene.legend].reverse().map(
    (id) =>
      html`<button class="s" aria-pressed=${drawn.includes(id) ? "true" : "false"} title=${all ? "Show this alone; Ctrl: with others" : "Click: alone or all; Ctrl: add or hide"}
        @click=${(event: MouseEvent) => choose(event, id)}>${badge(id)}${nameOf(id, scene)}</button>`,
  )}`;
}

/** Asks the page, which keeps what is shown. */
function choose(event: MouseEvent, id: string): void {
  const detail: LayerChoice = { id, add: event.ctrlKey || event.metaKey };
  event.currentTarget?.dispatchEvent(new CustomEvent("sd-layer", { detail, bubbles: true }));
}

function nameOf(id: string, scene: Scene): string {
  if (id !== HEALTHY) return causeKind(id).name;
  return scene.timeline.healthy_step_seconds === null ? "Not judged yet" : "Healthy";
}

function yLabels(input: TimelineInput, layout: Layout): TemplateResult {
  const stack = layout.rows.find((row) => row.kind === "stack");
  const time = layout.rows.find((row) => row.kind === "time");
  if (stack === undefined || time === undefined) return html``;
  const ticks = stackTicks(input.detail.top);
  const digits = input.detail.top >= 1 ? 2 : 0;
  const label = (y: number, text: string): TemplateResult =>
    html`<span style="top:${y - 8}px">${text}</span>`;
  const scale = input.detail.log;
  let above = Number.POSITIVE_INFINITY;
  const logs = logTicks(scale.low, scale.high)
    .map((tick) => {
      const share = Math.log(tick / scale.low) / Math.log(scale.high / scale.low);
      return { tick, y: time.top + time.height - share * time.height };
    })
    .filter(({ y }) => {
      if (y > above - 14 || y < time.top + 8 || y > time.top + time.height - 6) return false;
      above = y;
      return true;
    });
  return html`<div class="y">
    ${ticks.map((tick) =>
      label(
        stackY(stack, input.detail.top, tick),
        input.detail.top >= 1 ? `${decimal(tick, digits)} s` : stepTime(tick).replace(/\.0+ /, " "),
      ),
    )}
    ${logs.map(({ tick, y }) => label(y, stepTime(tick).replace(/\.0+ /, " ")))}
  </div>`;
}

/** What the notes and the ticks at a bucket are. */
function marksAt(scene: Scene, bucket: number, retraces: Retraces | undefined): string[] {
  const [from = 0, to = 0] = scene.track.rows.slice(bucket, bucket + 2);
  const here = ({ row }: { readonly row: number }): boolean => row >= from && row < to;
  const notes = notesAt(scene, bucket).map((text) => `Note: ${text}`);
  const ticks = MARKS.flatMap(({ kind, title }) => {
    const marks = (scene.timeline.marks[kind] ?? []).filter(here);
    if (kind === "captures" || marks.length === 0) return [];
    const seconds = stepTime(marks.reduce((sum, mark) => sum + mark.seconds, 0));
    const why = (retraces?.groups ?? []).flatMap((group) =>
      group.examples.filter(here).map(({ changes }) => {
        const [change] = changes;
        return change
          ? `${group.function}, ${change.argument}: ${step(change.before, change.after)}`
          : group.function;
      }),
    );
    const many = marks.reduce((sum, mark) => sum + mark.count, 0);
    return `${title}${many > 1 ? ` (${count(many)})` : ""}: ${
      kind === "retraces" && why[0] ? `${why[0]}, ` : ""
    }${seconds}`;
  });
  return [...notes, ...ticks];
}

/** What a step costs at a bucket, the largest loss first. */
export function tooltip(
  scene: Scene,
  bucket: number,
  steps: string,
  sinceSeconds: number,
  retraces: Retraces | undefined,
): TemplateResult {
  const { mean, median, max } = scene.timeline.step_seconds;
  const one = scene.timeline.count[bucket] === 1;
  return html`<div class="hd"><span>${one ? "Step" : "Steps"} ${steps}</span><span>${duration(sinceSeconds)}</span></div>
    ${marksAt(scene, bucket, retraces).map((text) => html`<p>${text}</p>`)}
    ${atBucket(scene, bucket).map(
      (line) =>
        html`<div>${badge(line.id)}<span>${nameOf(line.id, scene)}</span><span>${stepTime(line.seconds)}</span></div>`,
    )}
    <div class="sum"><span></span><b>${one ? "Step" : "Mean step"}</b><b>${stepTime(mean[bucket])}</b></div>
    ${
      one
        ? nothing
        : html`<div class="q"><span></span><span>Median · slowest</span><span>${stepTime(median[bucket])} · ${stepTime(max[bucket])}</span></div>`
    }`;
}
