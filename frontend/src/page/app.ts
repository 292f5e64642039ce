/** What the reader can do with the page, and how its parts work together. */

import type { Client } from "../api/client";
import type { Run } from "../api/wire/report";
import { isOurs, parseAddress } from "../model/address";
import type { OpenTrace } from "../model/captures";
import { nextChange } from "../model/changes/jump";
import { filtered } from "../model/run/run_list";
import type { Axis } from "../model/timeline/scene";
import { clamped, contains, sameWindow, span, type Window, whole } from "../model/timeline/window";
import type { Actions, SortColumn } from "../panels/contract";
import { Loader } from "./data/loader";
import { isBehind, Watch } from "./data/poller";
import { Reports } from "./data/reports";
import { Zoom } from "./data/zoom";
import type { Entry, Host } from "./host";
import { addressOfState, stateOfAddress } from "./state/bookmark";
import { FORGOTTEN, type State } from "./state/state";
import { Delay, Store } from "./state/store";

const SLOW_MILLISECONDS = 200;
/** Beyond these a list shows a dash until the filter narrows it. */
const MOST_VERDICTS = 50;
const ADDRESS_MILLISECONDS = 250;
/** A view this many times wider than what was jumped to is closed in on it. */
const TOO_WIDE = 40;

export class App implements Actions {
  readonly #store: Store;
  readonly #watch: Watch;
  readonly #loader: Loader;
  readonly #zoom: Zoom;
  readonly #reports: Reports;
  readonly #addressDelay = new Delay();
  /** How the address that waits is to be kept: one of several changes makes it a new entry. */
  #entry: Entry = "same";

  constructor(
    client: Client,
    private readonly host: Host,
    draw: (state: State) => void,
    visible: () => boolean,
    now: () => number = () => Date.now() / 1000,
  ) {
    this.#store = new Store(draw);
    this.#watch = new Watch(this.#store, client, visible, now, (runs, before) =>
      this.#listed(runs, before),
    );
    this.#zoom = new Zoom(this.#store, client, this.#watch.failed);
    this.#reports = new Reports(this.#store, client);
    this.#loader = new Loader(this.#store, client, this.#zoom.buckets, this.#watch.failed, () => {
      this.#zoom.refine();
      this.#zoom.contrast();
    });
  }

  get state(): State {
    return this.#store.state;
  }

  async start(): Promise<void> {
    const slow = new Delay();
    slow.after(SLOW_MILLISECONDS, () => this.#store.set({ slow: true }));
    this.host.onHash(() => this.#follow());
    this.host.onReload(() => void this.refresh());
    this.#store.set(stateOfAddress(parseAddress(this.host.hash())));
    await this.refresh();
    slow.cancel();
  }

  /** Asks for the runs, and for what is shown of a run that has grown. */
  refresh(): Promise<void> {
    return this.#watch.refresh();
  }

  #listed(runs: readonly Run[], before: Run | undefined): void {
    const shown = runs.find((run) => run.run === this.state.run);
    if (shown !== undefined) {
      const grown = before?.reported !== shown.reported || before?.steps !== shown.steps;
      const behind = isBehind(this.state.whole, shown);
      if (grown || behind || !this.#loader.loaded) this.#loader.load(shown.run);
    } else if (this.state.run === undefined) {
      const first = newestFirst(runs)[0];
      if (first !== undefined) this.#open(first.run, "same");
    }
  }

  /** Somebody edited the address or went back in the history. */
  #follow(): void {
    if (!isOurs(this.host.hash())) return; // another tab of TensorBoard
    const change = stateOfAddress(parseAddress(this.host.hash()));
    const other = change.run !== undefined && change.run !== this.state.run;
    this.#store.set({ ...(other ? FORGOTTEN : {}), ...change });
    if (other && change.run !== undefined) {
      this.#zoom.cancel();
      this.#loader.load(change.run);
      return;
    }
    this.#zoom.refine();
    this.#zoom.contrast();
  }

  /** Tries a panel again that could not be read. */
  retry(panel: string): void {
    this.#loader.retry(panel);
  }

  resize(width: number): void {
    if (Math.abs(width - this.state.width) < 1) return;
    this.#store.set({ width });
    this.#zoom.refine();
  }

  picker(open: boolean): void {
    this.#store.set({ picker: open, filter: "" });
    if (!open) {
      this.#reports.list([]);
      return;
    }
    this.#verdicts();
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".pop input")?.focus());
  }

  filter(filter: string): void {
    this.#store.set({ filter });
    this.#verdicts();
  }

  /** Asks for the verdicts of the runs that the list shows first. */
  #verdicts(): void {
    const { runs, filter, reports } = this.state;
    const listed = filtered(runs?.runs ?? [], filter, reports);
    // A filter by result needs them all.
    const asked = /[>:]/.test(filter) ? newestFirst(runs?.runs ?? []) : listed;
    this.#reports.list(asked.slice(0, MOST_VERDICTS).map((run) => run.run));
  }

  /** Which panel the reader looks at. */
  look(here: string | undefined): void {
    if (here !== this.state.here) this.#store.set({ here });
  }

  sample(sample: number): void {
    this.#store.set({ sample });
  }

  link(): string {
    this.host.keep(addressOfState(this.state), "same");
    return this.host.link();
  }

  // -- what panels may ask for --

  choose(run: string): void {
    this.#open(run, "new");
  }

  #open(run: string, entry: Entry): void {
    this.#zoom.cancel();
    this.#change({ ...FORGOTTEN, run, picker: false, filter: "" }, entry);
    this.#reports.list([]);
    this.#loader.load(run);
  }

  view(view: Window): void {
    const rows = this.state.whole?.rows;
    if (rows === undefined) return;
    const kept = clamped(view, rows);
    this.#change({ view: sameWindow(kept, whole(rows)) ? undefined : kept }, "new");
    this.#zoom.refine();
  }

  select(selection: Window | undefined): void {
    if (sameWindow(selection, this.state.selection)) return;
    this.#change({ selection }, "new");
    this.#zoom.contrast();
  }

  jump(direction: 1 | -1, cursor = -1): void {
    const timeline = this.state.whole;
    if (timeline === undefined) return;
    const target = nextChange(timeline, direction, this.state.selection?.from ?? cursor);
    if (target === undefined) return;
    this.select(target.selection);
    const view = this.state.view ?? whole(timeline.rows);
    const near = span(view) <= TOO_WIDE * span(target.selection);
    if (!near || !contains(view, target.selection)) this.view(target.view);
  }

  axis(axis: Axis): void {
    this.#change({ axis });
  }

  lostOnly(lostOnly: boolean): void {
    this.#change({ lostOnly });
  }

  table(asTable: boolean): void {
    this.#change({ asTable });
  }

  lanes(allLanes: boolean): void {
    this.#change({ allLanes });
  }

  sort(sortedBy: SortColumn): void {
    this.#change({ sortedBy });
  }

  hot(hot: string | undefined): void {
    this.#store.set({ hot });
  }

  compare(compared: readonly string[]): void {
    this.#change({ compared }, "new");
  }

  card(cause: string, open: boolean): void {
    this.allCards([cause], open);
  }

  allCards(causes: readonly string[], open: boolean): void {
    const touched = new Map(this.state.touched);
    for (const cause of causes) touched.set(cause, open);
    this.#change({ touched });
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

  openTrace(trace: OpenTrace | undefined): void {
    this.#change({ trace }, "new");
    if (trace !== undefined) this.goTo("timeline");
  }

  explain(window: Window): void {
    this.select(window);
    this.goTo("changed");
  }

  goTo(panel: string): void {
    requestAnimationFrame(() => document.getElementById(panel)?.scrollIntoView());
  }

  /** Changes what the address keeps; the address follows when the hand rests. */
  #change(change: Partial<State>, entry: Entry = "same"): void {
    this.#store.set(change);
    if (entry === "new") this.#entry = entry;
    const address = this.host.hash();
    this.#addressDelay.after(ADDRESS_MILLISECONDS, () => {
      // Whoever went elsewhere in the meantime is not called back.
      if (this.host.hash() === address) this.host.keep(addressOfState(this.state), this.#entry);
      this.#entry = "same";
    });
  }
}

const newestFirst = (runs: readonly Run[]): Run[] =>
  [...runs].sort((a, b) => (b.reported ?? 0) - (a.reported ?? 0));
