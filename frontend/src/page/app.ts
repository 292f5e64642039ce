/** Loads, keeps and changes the page's state; the shell draws it. */

import { type Client, RequestFailed } from "../api/client";
import type { Run, RunReport, Timeline } from "../api/types";
import { Latest, Superseded } from "../base/latest";
import { type Address, formatAddress, parseAddress } from "../model/address";
import { changesOf, stretchBefore } from "../model/changed";
import { nextChange } from "../model/jump";
import type { Axis } from "../model/scene";
import { clamped, contains, padded, sameWindow, span, type Window, whole } from "../model/window";
import { PANELS } from "../panels";
import type { Actions } from "../panels/panel";
import type { Host } from "./host";
import { MOST_BUCKETS, RunSource } from "./source";
import { FORGOTTEN, INITIAL, type PanelState, type State } from "./state";

const SLOW_MILLISECONDS = 200;
const DETAIL_MILLISECONDS = 60;
const CHANGES_MILLISECONDS = 150;
const ADDRESS_MILLISECONDS = 250;
const POLL_LIVE_SECONDS = 10;
const POLL_SECONDS = 30;
const RETRY_SECONDS = 10;
const LEAST_BUCKETS = 200;
/** Beyond the view on each side, so that a small pan needs no request. */
const MARGIN = 0.5;

export class App implements Actions {
  state: State = INITIAL;
  #source: RunSource | undefined;
  #abort = new AbortController();
  readonly #runsSlot = new Latest();
  readonly #detailSlot = new Latest();
  readonly #changesSlot = new Latest();
  #detailTimer: Timer;
  #changesTimer: Timer;
  #addressTimer: Timer;
  #pollTimer: Timer;
  #answered: number | undefined;
  /** Run -> when it had last reported as its report was asked for. */
  readonly #asked = new Map<string, number | null>();

  constructor(
    private readonly client: Client,
    private readonly host: Host,
    private readonly draw: (state: State) => void,
    private readonly visible: () => boolean,
    private readonly now: () => number = () => Date.now() / 1000,
  ) {}

  async start(): Promise<void> {
    const timer = setTimeout(() => this.#set({ slow: true }), SLOW_MILLISECONDS);
    this.host.onHash(() => this.#follow(parseAddress(this.host.hash())));
    this.host.onReload(() => void this.refresh());
    const address = parseAddress(this.host.hash());
    this.#set(placed(address));
    await this.refresh();
    clearTimeout(timer);
    this.#set({ slow: false });
  }

  /** Asks for the runs, and for what is shown of a run that has grown. */
  async refresh(): Promise<void> {
    clearTimeout(this.#pollTimer);
    try {
      const runs = await this.#runsSlot.run((signal) => this.client.runs(signal));
      this.#answered = this.now();
      const before = this.#current();
      this.#set({ runs, runsError: undefined, gone: undefined });
      for (const run of this.state.compared) void this.#report(run);
      const named = runs.runs.find((run) => run.run === this.state.run);
      if (named === undefined) {
        const first = newest(runs.runs);
        if (first !== undefined && this.state.run === undefined) this.#open(first.run);
      } else if (this.#source === undefined) this.#open(named.run);
      else if (before?.reported !== named.reported || before?.steps !== named.steps) this.#load();
    } catch (error) {
      if (error instanceof Superseded) return;
      this.#failed(error as Error);
    } finally {
      this.#plan();
    }
  }

  #failed(error: Error): void {
    if (!(error instanceof RequestFailed) || error.kind !== "gone") {
      this.#set({ runsError: error });
      return;
    }
    this.#set({
      gone: {
        since: this.state.gone?.since ?? this.now(),
        state: this.#answered,
        next: this.now() + RETRY_SECONDS,
      },
    });
  }

  #plan(): void {
    clearTimeout(this.#pollTimer);
    const { gone } = this.state;
    const live = this.#current()?.live ?? false;
    const seconds = gone ? RETRY_SECONDS : live ? POLL_LIVE_SECONDS : POLL_SECONDS;
    this.#pollTimer = setTimeout(() => {
      if (this.visible()) void this.refresh();
      else this.#plan();
    }, seconds * 1000);
  }

  #current(): Run | undefined {
    return this.state.runs?.runs.find((run) => run.run === this.state.run);
  }

  #open(run: string): void {
    this.#source = undefined;
    this.#set({ run, sample: this.state.sample });
    this.#load();
  }

  /** Loads every panel anew; what is shown stays until its successor is there. */
  #load(): void {
    const { run } = this.state;
    if (run === undefined) return;
    this.#abort.abort();
    const abort = new AbortController();
    this.#abort = abort;
    const source = new RunSource(this.client, run, this.#buckets(), abort.signal);
    this.#source = source;
    const slow = setTimeout(() => this.#set({ slow: true }), SLOW_MILLISECONDS);
    source.report().then(
      (report) => this.#fresh(source, { report }),
      () => undefined,
    );
    source.timeline().then(
      (timeline) => {
        this.#fresh(source, { whole: timeline });
        if (this.state.selection !== undefined) this.#contrast();
      },
      () => undefined,
    );
    const all = PANELS.map((panel) => this.#loadPanel(source, panel.id));
    void Promise.all(all).then(() => {
      clearTimeout(slow);
      this.#fresh(source, { slow: false });
      if (this.#source === source) this.#refine();
    });
  }

  async #loadPanel(source: RunSource, id: string): Promise<void> {
    const panel = PANELS.find((one) => one.id === id);
    if (panel === undefined) return;
    const put = (state: PanelState): void =>
      this.#fresh(source, { panels: new Map(this.state.panels).set(id, state) });
    try {
      put({ data: await panel.load(source) });
    } catch (error) {
      if (this.#source !== source) return;
      const old = this.state.panels.get(id)?.data;
      const failure = error as Error;
      // A server that went away is said once, in the banner; what is shown stays.
      if (failure instanceof RequestFailed && failure.kind === "gone") {
        this.#failed(failure);
        if (old !== undefined) return;
      }
      put({ error: failure });
    }
  }

  /** Tries a panel again that could not be read. */
  retry(id: string): void {
    const { run } = this.state;
    if (run === undefined) return;
    this.#source = new RunSource(this.client, run, this.#buckets(), this.#abort.signal);
    void this.#loadPanel(this.#source, id);
  }

  #fresh(source: RunSource, change: Partial<State>): void {
    if (this.#source === source) this.#set(change);
  }

  #set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    this.draw(this.state);
  }

  // -- what the reader does --

  resize(width: number): void {
    if (Math.abs(width - this.state.width) < 1) return;
    this.#set({ width });
    if (this.#source !== undefined) this.#refine();
  }

  choose(run: string): void {
    this.#detailSlot.cancel();
    this.#set({ ...FORGOTTEN, run, picker: false, filter: "" });
    this.#load();
    this.#keep();
  }

  picker(open: boolean): void {
    this.#set({ picker: open, filter: "" });
    if (!open) return;
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".pop input")?.focus());
  }

  filter(filter: string): void {
    this.#set({ filter });
  }

  sample(sample: number): void {
    this.#set({ sample });
  }

  view(view: Window): void {
    const rows = this.state.whole?.rows;
    if (rows === undefined) return;
    const kept = clamped(view, rows);
    this.#set({ view: sameWindow(kept, whole(rows)) ? undefined : kept });
    this.#refine();
    this.#keep();
  }

  select(selection: Window | undefined): void {
    if (sameWindow(selection, this.state.selection)) return;
    this.#set({ selection });
    this.#contrast();
    this.#keep();
  }

  jump(direction: 1 | -1, cursor = -1): void {
    const timeline = this.state.whole;
    if (timeline === undefined) return;
    const target = nextChange(timeline, direction, this.state.selection?.from ?? cursor);
    if (target === undefined) return;
    this.select(target.selection);
    const view = this.state.view ?? whole(timeline.rows);
    if (!contains(view, target.selection) || span(view) > 40 * span(target.selection)) {
      this.view(target.view);
    }
    this.#keep();
  }

  axis(axis: Axis): void {
    this.#set({ axis });
  }

  lostOnly(lostOnly: boolean): void {
    this.#set({ lostOnly });
  }

  table(asTable: boolean): void {
    this.#set({ asTable });
  }

  hot(hot: string | undefined): void {
    this.#set({ hot });
  }

  compare(compared: readonly string[]): void {
    this.#set({ compared });
    for (const run of compared) void this.#report(run);
    this.#keep();
  }

  card(cause: string, open: boolean): void {
    this.allCards([cause], open);
  }

  allCards(causes: readonly string[], open: boolean): void {
    const touched = new Map(this.state.touched);
    for (const cause of causes) touched.set(cause, open);
    this.#set({ touched });
    this.#keep();
  }

  showCard(cause: string): void {
    this.card(cause, true);
    requestAnimationFrame(() => {
      const card = document.getElementById(`card-${cause}`);
      card?.scrollIntoView({ block: "nearest" });
      card?.querySelector<HTMLElement>("summary")?.focus();
    });
  }

  showRows(window: Window): void {
    this.view(window);
    this.goTo("timeline");
  }

  explain(window: Window): void {
    this.select(window);
    this.goTo("changed");
  }

  goTo(panel: string): void {
    requestAnimationFrame(() => document.getElementById(panel)?.scrollIntoView());
  }

  link(): string {
    this.#write();
    return this.host.link();
  }

  // -- finer data for the view --

  #buckets(): number {
    const plot = this.state.width > 0 ? this.state.width - 208 : 1200;
    return Math.round(Math.min(MOST_BUCKETS, Math.max(LEAST_BUCKETS, plot)));
  }

  #refine(): void {
    clearTimeout(this.#detailTimer);
    const { whole: all, detail, view } = this.state;
    if (all === undefined || view === undefined || all.bucket_rows <= 1) return;
    const wanted = Math.max(1, Math.floor(span(view) / this.#buckets()));
    if (detail && detail.bucket_rows <= wanted && contains(windowOf(detail), view)) return;
    this.#detailTimer = setTimeout(() => void this.#fetchDetail(all, view), DETAIL_MILLISECONDS);
  }

  async #fetchDetail(all: Timeline, view: Window): Promise<void> {
    const { run } = this.state;
    if (run === undefined) return;
    const wide = padded(view, MARGIN, all.rows);
    const buckets = Math.min(MOST_BUCKETS, Math.round((this.#buckets() * span(wide)) / span(view)));
    const part = { first: Math.floor(wide.from), last: Math.ceil(wide.to) - 1, buckets };
    try {
      const detail = await this.#detailSlot.run((signal) =>
        this.client.timeline(run, part, signal),
      );
      if (this.state.run === run) this.#set({ detail });
    } catch (error) {
      if (error instanceof Superseded) return;
      this.#failed(error as Error);
    }
  }

  /** Compares the selection with what came before it; the old answer stays until the new one. */
  #contrast(): void {
    clearTimeout(this.#changesTimer);
    const { run, whole: all } = this.state;
    const selection = all && clipped(this.state.selection, all.rows);
    const before = selection && stretchBefore(selection);
    if (selection === undefined || before === undefined || run === undefined) {
      this.#changesSlot.cancel();
      this.#set({ changes: undefined, changesError: undefined });
      return;
    }
    this.#changesTimer = setTimeout(
      () => void this.#fetchChanges(run, before, selection),
      CHANGES_MILLISECONDS,
    );
  }

  async #fetchChanges(run: string, before: Window, selection: Window): Promise<void> {
    const part = { first: before.from, last: selection.to - 1, buckets: MOST_BUCKETS };
    try {
      const timeline = await this.#changesSlot.run((signal) =>
        this.client.timeline(run, part, signal),
      );
      const changes = changesOf(timeline, before, selection);
      this.#set({ changes, changesError: undefined });
    } catch (error) {
      if (error instanceof Superseded) return;
      this.#set({ changesError: error as Error });
    }
  }

  /** The report of a run that is compared: asked for once, and again when it has grown. */
  async #report(run: string): Promise<void> {
    const reported = this.state.runs?.runs.find((one) => one.run === run)?.reported ?? null;
    if (this.#asked.get(run) === reported) return;
    this.#asked.set(run, reported);
    const put = (report: RunReport | Error): void =>
      this.#set({ reports: new Map(this.state.reports).set(run, report) });
    try {
      put(await this.client.report(run));
    } catch (error) {
      put(error as Error);
    }
  }

  // -- the address --

  #keep(): void {
    clearTimeout(this.#addressTimer);
    this.#addressTimer = setTimeout(() => this.#write(), ADDRESS_MILLISECONDS);
  }

  #write(): void {
    const { run, view, selection, touched, compared } = this.state;
    const open = [...touched].map(([cause, isOpen]) => (isOpen ? cause : `-${cause}`));
    this.host.keep(
      formatAddress({
        ...(run === undefined ? {} : { run }),
        ...(view === undefined ? {} : { view }),
        ...(selection === undefined ? {} : { selection }),
        ...(open.length === 0 ? {} : { open }),
        ...(compared.length === 0 ? {} : { compare: compared }),
      }),
    );
  }

  /** Somebody edited the address or went back in the history. */
  #follow(address: Address): void {
    const { run } = address;
    if (run !== undefined && run !== this.state.run) {
      this.#set({ ...FORGOTTEN, ...placed(address), run });
      this.#load();
    } else if (run !== undefined) {
      this.#set({ view: undefined, selection: undefined, ...placed(address) });
      this.#refine();
      this.#contrast();
    }
  }
}

type Timer = ReturnType<typeof setTimeout> | undefined;

/** The part of a window that lies inside the run. */
function clipped(window: Window | undefined, rows: number): Window | undefined {
  if (window === undefined || window.from >= rows) return undefined;
  return { from: Math.max(0, window.from), to: Math.min(rows, window.to) };
}

const windowOf = (timeline: Timeline): Window => ({ from: timeline.first, to: timeline.last + 1 });

const newest = (runs: readonly Run[]): Run | undefined =>
  runs.reduce<Run | undefined>(
    (best, run) => ((run.reported ?? 0) > (best?.reported ?? -1) ? run : best),
    undefined,
  ) ?? runs[0];

function placed(address: Address): Partial<State> {
  const touched = new Map(
    (address.open ?? []).map((id): [string, boolean] =>
      id.startsWith("-") ? [id.slice(1), false] : [id, true],
    ),
  );
  return {
    ...(address.run === undefined ? {} : { run: address.run }),
    ...(address.view === undefined ? {} : { view: address.view }),
    ...(address.selection === undefined ? {} : { selection: address.selection }),
    ...(address.compare === undefined ? {} : { compared: address.compare }),
    touched,
  };
}
