/** Loads what the panels need of a run; what is shown stays until its successor is there. */

import { type Client, RequestFailed } from "../../api/client";
import type { Timeline } from "../../api/wire/timeline";
import { inRows } from "../../model/timeline/window";
import { PANELS } from "../../panels";
import type { PanelState, State } from "../state/state";
import { Delay, type Store } from "../state/store";
import { RunSource } from "./source";
import type { Zoom } from "./zoom";

const SLOW_MILLISECONDS = 200;

/** After this long, and this often, the server is asked how much it has read. */
const PROGRESS_MILLISECONDS = 1000;

export class Loader {
  #loaded = false;
  #abort = new AbortController();
  readonly #slow = new Delay();
  readonly #asking = new Delay();

  constructor(
    private readonly store: Store,
    private readonly client: Client,
    private readonly zoom: Zoom,
    /** Told of a server that does not answer. */
    private readonly gone: (error: Error) => void,
    /** Told when each panel has what it shows, so that nothing moves any more. */
    private readonly settled: () => void,
  ) {}

  /** Some run has been asked for. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Answers of a run that was asked for before are dropped from here on. */
  load(run: string): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    const source = this.#open(run);
    const loadingSince = Date.now() / 1000;
    this.#slow.after(SLOW_MILLISECONDS, () => this.#put(source, { loadingSince }));
    const late = (): void => undefined;
    this.#put(source, { readFraction: undefined });
    this.#follow(source, run);
    source.report().then((report) => this.#put(source, { report, workers: report.workers }), late);
    source.timeline().then((whole) => {
      this.#put(source, { whole, ...this.#inRowsOf(whole) });
      if (!source.wanted) return;
      this.zoom.refine();
      this.zoom.contrast();
    }, late);
    void Promise.all(PANELS.map((panel) => this.#panel(source, panel.id))).then(() => {
      if (!source.wanted) return;
      this.#slow.cancel();
      this.#asking.cancel();
      this.store.set({ loadingSince: undefined });
      this.settled();
    });
  }

  /** The same steps in view where each row has come to stand for others. */
  #inRowsOf(whole: Timeline): Partial<State> {
    const { view, selection, whole: before } = this.store.state;
    const factor = (before?.steps_per_row ?? 1) / whole.steps_per_row;
    if (factor === 1) return {};
    return {
      view: view && inRows(view, factor),
      selection: selection && inRows(selection, factor),
      detail: undefined,
    };
  }

  /** Tries a panel again that could not be read. */
  retry(id: string): void {
    const { run } = this.store.state;
    if (run !== undefined) void this.#panel(this.#open(run), id);
  }

  /** Asks how much is read until the verdict is there. */
  #follow(source: RunSource, run: string): void {
    this.#asking.after(PROGRESS_MILLISECONDS, async () => {
      if (!source.wanted || this.store.state.panels.has("verdict")) return;
      const read = await this.client.progress(run, this.#abort.signal).catch(() => undefined);
      this.#put(source, { readFraction: read?.read_fraction });
      if (source.wanted) this.#follow(source, run);
    });
  }

  #open(run: string): RunSource {
    this.#loaded = true;
    return new RunSource(this.client, run, this.zoom.buckets(), this.#abort.signal);
  }

  #put(source: RunSource, change: Partial<State>): void {
    if (source.wanted) this.store.set(change);
  }

  async #panel(source: RunSource, id: string): Promise<void> {
    const panel = PANELS.find((one) => one.id === id);
    if (panel === undefined) return;
    const put = (state: PanelState): void =>
      this.#put(source, { panels: new Map(this.store.state.panels).set(id, state) });
    try {
      put({ data: await panel.load(source) });
    } catch (error) {
      if (!source.wanted) return;
      const failure = error as Error;
      // A server that went away is said once, in the banner; what is shown stays.
      if (failure instanceof RequestFailed && failure.kind === "gone") {
        this.gone(failure);
        if (this.store.state.panels.get(id)?.data !== undefined) return;
      }
      put({ error: failure });
    }
  }
}
