/** What the reader can do with the page, and how its parts work together. */

import type { Client } from "../api/client";
import { isShared } from "../api/embedded";
import type { Run } from "../api/wire/report";
import { isOurs, parseAddress } from "../model/address";
import type { OpenTrace } from "../model/captures";
import { nextChange } from "../model/changes/jump";
import type { Order } from "../model/runs/columns";
import type { Axis } from "../model/timeline/scene";
import { chosenLayers } from "../model/timeline/stack";
import { rowOfStep, trackOf } from "../model/timeline/track";
import { clamped, contains, sameWindow, span, type Window, whole } from "../model/timeline/window";
import type { Actions, SortColumn } from "../panels/contract";
import { Loader } from "./data/loader";
import { isBehind, Poller } from "./data/poller";
import { Verdicts } from "./data/verdicts";
import { Zoom } from "./data/zoom";
import type { Entry, Host } from "./host";
import { addressOfState, stateOfAddress } from "./state/bookmark";
import { FORGOTTEN, type List, ROWS, type State, shownRun } from "./state/state";
import { Delay, Store } from "./state/store";

const SLOW_MILLISECONDS = 200;
const ADDRESS_MILLISECONDS = 250;
/** A view this many times wider than what was jumped to is closed in on it. */
const TOO_WIDE = 40;

export class App implements Actions {
  readonly #store: Store;
  readonly #poller: Poller;
  readonly #loader: Loader;
  readonly #zoom: Zoom;
  readonly #verdicts: Verdicts;
  readonly #addressDelay = new Delay();
  /** How the address that waits is to be kept: one of several changes makes it a new entry. */
  #entry: Entry = "same";
  /** How far a link has scrolled: its panel counts as looked at, also far down at the end. */
  #arrivedAt = -1;
  /** The panel to go to once a run is there. */
  #arrival: string | undefined;

  constructor(
    client: Client,
    private readonly host: Host,
    draw: (state: State) => void,
    visible: () => boolean,
    now: () => number = () => Date.now() / 1000,
  ) {
    this.#store = new Store(draw);
    this.#poller = new Poller(this.#store, client, visible, now, (runs, before) =>
      this.#listed(runs, before),
    );
    this.#zoom = new Zoom(this.#store, client, this.#poller.failed);
    this.#verdicts = new Verdicts(this.#store, client, () => visible() && this.#isListing());
    const settled = (): void => {
      if (this.#arrival !== undefined) this.goTo(this.#arrival);
      this.#arrival = undefined;
      // Only now it is known whether the answers are of all of the run.
      this.#poller.plan();
    };
    this.#loader = new Loader(this.#store, client, this.#zoom, this.#poller.failed, settled);
  }

  get state(): State {
    return this.#store.state;
  }

  async start(): Promise<void> {
    const slow = new Delay();
    const loadingSince = Date.now() / 1000;
    slow.after(SLOW_MILLISECONDS, () => this.#store.set({ loadingSince }));
    this.host.onHash(() => this.#follow());
    this.host.onReload(() => void this.refresh());
    this.#store.set(stateOfAddress(parseAddress(this.host.hash())));
    await this.refresh();
    slow.cancel();
  }

  /** Asks for the runs, and for what is shown of a run that has grown. */
  refresh(): Promise<void> {
    return this.#poller.refresh();
  }

  #listed(runs: readonly Run[], before: Run | undefined): void {
    const shown = shownRun(this.state);
    if (shown !== undefined) {
      const grown = before?.reported !== shown.reported || before?.steps !== shown.steps;
      const behind = isBehind(this.state.whole, shown);
      if (grown || behind || !this.#loader.loaded) this.#loader.load(shown.run);
    } else if (this.state.run === undefined) {
      const [only, ...more] = runs;
      // Of several, the table is what one sees first; a report in one file has an order of its own.
      if (only !== undefined && (more.length === 0 || isShared())) this.#open(newest(runs), "same");
    }
    if (this.state.changesError !== undefined) this.#zoom.contrast();
    if (this.state.detailError !== undefined) this.#zoom.refine();
    void this.#verdicts.refresh();
  }

  #isListing(): boolean {
    return this.state.run === undefined || this.state.picker;
  }

  /** Somebody edited the address or went back in the history. */
  #follow(): void {
    if (!isOurs(this.host.hash())) return; // another tab of TensorBoard
    const address = parseAddress(this.host.hash());
    const other = address.run !== this.state.run;
    const change = stateOfAddress(address, other ? 1 : this.state.whole?.steps_per_row);
    this.#store.set({ ...(other ? FORGOTTEN : {}), ...change });
    if (other) {
      this.#zoom.cancel();
      if (change.run !== undefined) this.#loader.load(change.run);
      else this.#listed(this.state.runs?.runs ?? [], undefined);
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
    if (open && this.state.run === undefined) {
      document.querySelector<HTMLElement>(".list-filter")?.focus();
      return;
    }
    this.#store.set({ picker: open, filter: "" });
    if (!open) return;
    void this.#verdicts.refresh();
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".pop input")?.focus());
  }

  filter(filter: string): void {
    this.#store.set({ filter });
  }

  // -- the table of all runs --

  /** Changes how it is shown; another filter or order begins at its top. */
  list(change: Partial<List>): void {
    const rows = "filter" in change || "order" in change ? { rows: ROWS } : {};
    this.#change({ list: { ...this.state.list, ...rows, ...change } });
  }

  /** The other direction, where it is in this order already. */
  order(by: string, descending: boolean): void {
    const { order } = this.state.list;
    const next: Order = { by, descending: order.by === by ? !order.descending : descending };
    this.list({ order: next });
  }

  pick(run: string): void {
    const { picked } = this.state.list;
    const others = picked.filter((one) => one !== run);
    this.list({ picked: others.length < picked.length ? others : [...picked, run] });
  }

  moreRows(): void {
    this.#store.set({ list: { ...this.state.list, rows: this.state.list.rows + ROWS } });
  }

  allRuns(): void {
    this.#zoom.cancel();
    this.#change({ ...FORGOTTEN, run: undefined, picker: false }, "new");
    void this.#verdicts.refresh();
  }

  /** Opens the first run that was picked, with the others beside it. */
  comparePicked(): void {
    const [first, ...others] = this.state.list.picked;
    if (first === undefined) return;
    this.#open(first, "new", others);
    this.#arrival = "compare";
  }

  /** Which panel the reader looks at. */
  look(here: string | undefined): void {
    if (scrollY !== this.#arrivedAt && here !== this.state.here) this.#store.set({ here });
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

  #open(run: string, entry: Entry, compared: readonly string[] = []): void {
    this.#zoom.cancel();
    this.#change({ ...FORGOTTEN, run, compared, picker: false, filter: "" }, entry);
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
    this.#change({ selection, since: undefined }, "new");
    this.#zoom.contrast();
  }

  since(step: number): void {
    const { whole } = this.state;
    if (whole === undefined) return;
    const from = rowOfStep(trackOf(whole), step);
    this.#change({ selection: { from, to: whole.rows }, since: step, changes: undefined }, "new");
    this.#zoom.contrast();
  }

  layer(id: string, add: boolean): void {
    this.#change({ layers: chosenLayers(this.state.layers, id, add) });
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

  repeats(repeats: boolean): void {
    this.#change({ repeats });
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
    requestAnimationFrame(() => {
      document.getElementById(panel)?.scrollIntoView();
      this.#arrivedAt = scrollY;
      this.#store.set({ here: panel });
    });
  }

  /** Goes to another run or to all of them: at once, so that Back returns to what is left here. */
  #turn(change: Partial<State>): void {
    this.#addressDelay.cancel();
    this.host.keep(addressOfState(this.state), this.#entry);
    this.#store.set(change);
    this.#entry = "same";
    this.host.keep(addressOfState(this.state), "new");
  }

  /** Changes what the address keeps; the address follows when the hand rests. */
  #change(change: Partial<State>, entry: Entry = "same"): void {
    if (entry === "new" && "run" in change) {
      this.#turn(change);
      return;
    }
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

const newest = (runs: readonly Run[]): string =>
  [...runs].sort((a, b) => (b.reported ?? 0) - (a.reported ?? 0))[0]?.run ?? "";
