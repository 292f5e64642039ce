/** The page as a whole: bar, banners, and one section per panel. */

import { html, nothing, type TemplateResult } from "lit-html";
import { isShared } from "../api/embedded";
import type { Retraces } from "../api/wire/retraces";
import { whole as wholeRun } from "../model/timeline/window";
import { PANELS } from "../panels";
import type { AnyPanel, Captures, Page, Shown } from "../panels/contract";
import type { App } from "./app";
import { loading, noData, panelFailed, unknownRun, unreadable } from "./empty_states";
import { keysDialog } from "./keys_help";
import { allRuns } from "./runs/all_runs";
import { SceneCache } from "./scenes";
import { type State, shownRun } from "./state/state";
import { banner, missingBanner, toolbar } from "./toolbar";

export class Shell {
  readonly #scenes = new SceneCache();

  constructor(private readonly app: App) {}

  page(state: State, now: number): TemplateResult {
    const chunks = state.report?.completeness;
    return html`<header class="head">${state.gone === undefined ? nothing : banner(this.app, state.gone, now)}
      ${chunks !== undefined && chunks.missing_chunks > 0 ? missingBanner(chunks) : nothing}
      ${toolbar(this.app, state, panelsOf(state), now)}</header>
      <main>${this.#content(state, now)}</main>${keysDialog}`;
  }

  #content(state: State, now: number): TemplateResult | typeof nothing {
    const { runs, runsError } = state;
    if (runs === undefined) {
      return runsError === undefined ? loading(state, now) : unreadable(this.app, runsError);
    }
    if (runs.runs.length === 0) return noData(this.app, state);
    if (state.run === undefined) return allRuns(this.app, state, now);
    const run = shownRun(state);
    if (run === undefined) return unknownRun(this.app, state.run ?? "");
    if (!state.panels.has("verdict")) return loading(state, now);
    const page = this.#see(state, run, now);
    return html`${grouped(panelsOf(state)).map((group) =>
      group.length === 1
        ? this.#section(group[0] as AnyPanel, state, page)
        : html`<div class="two">${group.map((panel) => this.#section(panel, state, page))}</div>`,
    )}`;
  }

  #see(state: State, run: Page["run"], now: number): Page {
    const view = state.view ?? wholeRun(state.whole?.rows ?? run.steps);
    const scenes =
      state.whole === undefined
        ? undefined
        : this.#scenes.covering(state.whole, state.detail, view, state.lostOnly, state.layers);
    return {
      run,
      runs: state.runs?.runs ?? [],
      report: state.report,
      whole: scenes?.whole,
      detail: scenes?.detail,
      detailError: state.detailError,
      view,
      selection: state.selection,
      since: state.since,
      changes: state.changes,
      changesError: state.changesError,
      axis: state.axis,
      lostOnly: state.lostOnly,
      asTable: state.asTable,
      sortedBy: state.sortedBy,
      allLanes: state.allLanes,
      open: (cause, atFirst) => state.touched.get(cause) ?? atFirst,
      hot: state.hot,
      width: state.width,
      compared: state.compared,
      repeats: state.repeats,
      shared: isShared(),
      trace: state.trace,
      captures: state.panels.get("traces")?.data as Captures | undefined,
      retraces: state.panels.get("retraces")?.data as Retraces | undefined,
      hyperparameters: state.found.get(run.run)?.hyperparameters ?? {},
      now,
      actions: this.app,
    };
  }

  #section(panel: AnyPanel, state: State, page: Page): TemplateResult {
    const loaded = state.panels.get(panel.id);
    const shown = this.#shown(panel, loaded, page);
    if (panel.title === "") return html`<div id=${panel.id} class="plain">${shown.body}</div>`;
    return html`<section id=${panel.id} aria-labelledby=${`title-${panel.id}`}>
      <header><h2 id=${`title-${panel.id}`}>${panel.title}</h2><span class="q note">${shown.note ?? nothing}</span>${shown.tools ?? nothing}</header>
      ${shown.body}
    </section>`;
  }

  #shown(
    panel: AnyPanel,
    loaded: { data?: unknown; error?: Error } | undefined,
    page: Page,
  ): Shown {
    if (loaded === undefined) {
      const height = `height:${panel.reserve ?? 0}px`;
      return { body: html`<div aria-busy="true" style=${height}></div>` };
    }
    if (loaded.error !== undefined) {
      return { note: "could not be read", body: panelFailed(this.app, panel.id, loaded.error) };
    }
    return panel.view(loaded.data, page);
  }
}

/** The panels that the run has anything for. */
const panelsOf = (state: State): AnyPanel[] =>
  PANELS.filter((panel) => panel.shows?.(state.report) ?? true);

/** Half-width panels that follow each other stand side by side. */
function grouped(panels: readonly AnyPanel[]): AnyPanel[][] {
  const groups: AnyPanel[][] = [];
  for (const panel of panels) {
    const last = groups.at(-1);
    if (panel.half && last?.length === 1 && last[0]?.half) last.push(panel);
    else groups.push([panel]);
  }
  return groups;
}
