/** Since when: step time by cause, marks and signals on one axis. */

import { html, nothing, type TemplateResult } from "lit-html";
import "../../charts/timeline/overview";
import "../../charts/timeline/timeline_element";
import type { Timeline } from "../../api/wire/timeline";
import { count, ledgerSeconds, plural, signed, stepTime } from "../../base/format";
import { nameInText, UNEXPLAINED } from "../../catalog/causes";
import type { Jump, LayerChoice, Point } from "../../charts/timeline/timeline_input";
import { nearest, spansOf } from "../../model/captures";
import { changeText } from "../../model/changes/changed";
import { key } from "../../model/run/retrace_reason";
import { chosenLanes } from "../../model/timeline/lane";
import { MARKS, type Scene } from "../../model/timeline/scene";
import { sumsOf } from "../../model/timeline/selection_sums";
import { sameWindow, span, type Window, whole as wholeRun } from "../../model/timeline/window";
import { type Page, sealed } from "../contract";
import { below, ifThere } from "../later";

export const timeline = sealed<Timeline>({
  id: "timeline",
  title: "Timeline",
  anchor: "Timeline",
  reserve: 780,
  load: (source) => source.timeline(),
  view: (_, page) => {
    const { whole, detail } = page;
    if (whole === undefined || detail === undefined || whole.timeline.rows === 0) {
      return { body: html`<p class="empty">No step has ended yet.</p>` };
    }
    return {
      note: "colored areas: time lost; hover for values, drag to select",
      body: html`${tools(whole, page)}${coarse(page)}${summary(detail, page)}${strip(whole, page)}<div class=${page.trace ? "split" : ""}><div>
        <sd-timeline class="tl"
          .input=${{ whole, detail, view: page.view, selection: page.selection, axis: page.axis, allLanes: page.allLanes, captures: spansOf(page.captures?.list.captures, whole.timeline.marks.captures ?? [], page.trace?.id), retraces: page.retraces }}
          @sd-view=${(event: CustomEvent<Window>) => page.actions.view(event.detail)}
          @sd-select=${(event: CustomEvent<Window | null>) => page.actions.select(event.detail ?? undefined)}
          @sd-jump=${(event: CustomEvent<Jump>) => page.actions.jump(event.detail.direction, event.detail.cursor)}
          @sd-layer=${({ detail: { id, add } }: CustomEvent<LayerChoice>) => page.actions.layer(id, add)}
          @sd-point=${(event: CustomEvent<Point>) => point(page, event.detail)}
        ></sd-timeline>
        ${lanesLine(whole, page)}</div>${trace(page)}</div>${page.asTable ? (ifThere()?.timelineTable(detail, page) ?? nothing) : nothing}`,
    };
  },
});

function openNear(page: Page, rows: Window, within?: number): void {
  const found = nearest(page.captures?.list.captures ?? [], rows, within);
  if (found !== undefined) page.actions.openTrace(found);
}

/** A tick leads to what it is, other steps to the capture of them. */
function point(page: Page, { rows, within, mark }: Point): void {
  const near = ({ row }: { readonly row: number }): boolean =>
    row >= rows.from - within && row < rows.to + within;
  if (!mark || mark === "captures" || !page.whole?.timeline.marks[mark].some(near)) {
    openNear(page, rows, within);
  } else if (mark === "retraces") {
    const group = page.retraces?.groups.find(({ examples }) => examples.some(near));
    if (group) page.actions.card(key(group), true);
    page.actions.goTo("retraces");
  } else {
    page.actions.showCard(MARKS.find(({ kind }) => kind === mark)?.cause ?? "");
  }
}

/** Why the steps in view are no finer than the whole run. */
function coarse({ detailError }: Page): TemplateResult | typeof nothing {
  if (detailError === undefined) return nothing;
  return html`<p class="empty" role="status">No finer data for these steps: ${detailError.message}</p>`;
}

/** How many of what moved, and of what was lost, stand beside the selection. */
const FEW = 3;

/** What the selected steps take and lose, and what moved with them. */
function summary({ timeline: data }: Scene, page: Page): TemplateResult | typeof nothing {
  const { selection, changes, report, run } = page;
  if (selection === undefined) return nothing;
  const { steps, meanSeconds, meanSteps, lost } = sumsOf(data, selection, run.source);
  const moved = (changes?.changes ?? []).filter(({ kind }) => kind === "changed");
  return html`<p class="tl-sum" role="status">Selected: <b>${plural(steps, "step")}</b>, mean <b>${stepTime(meanSeconds)}</b>${meanSteps > 1 ? ` per ${meanSteps} steps` : ""}${lost
    .slice(0, FEW)
    .map(
      ({ id, seconds }) =>
        html`; ${ledgerSeconds(seconds, report?.wall_seconds)} ${id === UNEXPLAINED ? "unexplained" : `lost to ${nameInText(id)}`}`,
    )}.${
    moved.length > 0
      ? html` Moved: ${moved
          .slice(0, FEW)
          .map(
            ({ title, difference, unit, per_step }) =>
              `${title} ${signed(difference, (value) => changeText(value, unit, per_step))}`,
          )
          .join(
            "; ",
          )}. <button class="link" @click=${() => page.actions.goTo("changed")}>All changes</button>`
      : nothing
  }</p>`;
}

/** The capture that is open, beside the steps. */
function trace(page: Page): TemplateResult | typeof nothing {
  if (page.trace === undefined || page.captures === undefined) return nothing;
  return html`<sd-trace role="region" aria-label="Trace" .input=${{ ...page.trace, source: page.captures.source }} .actions=${page.actions}></sd-trace>`;
}

function toggle(
  label: string,
  choices: readonly (readonly [string, boolean, () => void])[],
): TemplateResult {
  return html`<div class="seg" role="group" aria-label=${label}>${choices.map(
    ([name, pressed, act]) =>
      html`<button aria-pressed=${pressed ? "true" : "false"} @click=${act}>${name}</button>`,
  )}</div>`;
}

function tools(whole: Scene, page: Page): TemplateResult {
  const { actions, axis, lostOnly, selection } = page;
  const rows = whole.timeline.rows;
  const points = whole.timeline.change_points.length;
  return html`<div class="tools">
    ${toggle("Horizontal axis", [
      ["Steps", axis === "steps", () => actions.axis("steps")],
      ["Time", axis === "time", () => actions.axis("time")],
    ])}
    ${toggle("Stack", [
      ["Whole step", !lostOnly, () => actions.lostOnly(false)],
      ["Lost only", lostOnly, () => actions.lostOnly(true)],
    ])}
    <button class="sm" ?disabled=${sameWindow(page.view, wholeRun(rows))} @click=${() => actions.view(wholeRun(rows))}>Whole run <kbd>0</kbd></button>
    <button class="sm" ?disabled=${selection === undefined} @click=${() => selection && actions.view(selection)}>Zoom to selection <kbd>Z</kbd></button>
    ${
      points === 0
        ? html`<span class="s q">no change point</span>`
        : html`<button class="sm" aria-label="Select the change point before" @click=${() => actions.jump(-1)}>‹ <kbd>[</kbd></button>
          <span class="s">${plural(points, "change point")}</span>
          <button class="sm" aria-label="Select the next change point" @click=${() => actions.jump(1)}><kbd>]</kbd> ›</button>`
    }
    ${
      page.captures?.list.captures.length
        ? html`<button class="sm" @click=${() => openNear(page, selection ?? page.view)}>Trace here</button>`
        : nothing
    }
    <button class="sm quiet" @click=${() => void below().then(({ picture }) => picture())}>PNG</button>
    <button class="sm quiet" @click=${() => void below().then(({ drawing }) => drawing())}>SVG</button>
    <button class="sm quiet" aria-pressed=${page.asTable ? "true" : "false"} @click=${() => showTable(page)}>As table</button>
  </div>`;
}

/** Shows the table below the picture, and goes there: a wide window has no room for both. */
function showTable({ asTable, actions }: Page): void {
  actions.table(!asTable);
  if (asTable) return;
  requestAnimationFrame(() => {
    const table = document.getElementById("timeline-table");
    table?.scrollIntoView({ block: "nearest" });
    table?.focus({ preventScroll: true });
  });
}

function strip(whole: Scene, page: Page): TemplateResult {
  const overview = {
    heights: whole.tops.at(-1) ?? [],
    top: whole.top,
    rows: whole.timeline.rows,
    view: page.view,
  };
  return html`<sd-overview class="over" aria-hidden="true" .overview=${overview}
    @sd-pan=${(event: CustomEvent<number>) =>
      page.actions.view({
        from: event.detail,
        to: event.detail + span(page.view),
      })}></sd-overview>`;
}

/** How many of the signals are shown, and the way to the others. */
function lanesLine(whole: Scene, page: Page): TemplateResult | typeof nothing {
  const shown = chosenLanes(whole.lanes, page.allLanes).length;
  if (shown === whole.lanes.length && !page.allLanes) return nothing;
  return html`<p class="q more">${
    page.allLanes
      ? `Showing all ${plural(shown, "signal")}.`
      : `Showing ${count(shown)} of ${plural(whole.lanes.length, "signal")}: those that changed most.`
  } <button class="quiet sm" @click=${() => page.actions.lanes(!page.allLanes)}>${page.allLanes ? "Show fewer" : "Show all"}</button></p>`;
}
