/** Finer data for the part of the run in view, and the comparison of a selection. */

import { type Client, RequestFailed } from "../../api/client";
import type { Timeline } from "../../api/wire/timeline";
import { Latest, Superseded } from "../../base/latest";
import { stretchBefore } from "../../model/changes/changed";
import { contains, padded, span, type Window } from "../../model/timeline/window";
import { Delay, type Store } from "../state/store";
import { MOST_BUCKETS } from "./source";

const DETAIL_MILLISECONDS = 20;
const CHANGES_MILLISECONDS = 150;
const LEAST_BUCKETS = 200;
const BUCKET_PIXELS = 3;
/** Beyond the view on each side, so that a small pan needs no request. */
const MARGIN = 0.5;
/** What stands beside the plot, and its width before the page has been measured. */
const GUTTER_PIXELS = 208;
const USUAL_PIXELS = 1200;

export class Zoom {
  readonly #detail = new Latest();
  readonly #changes = new Latest();
  readonly #detailDelay = new Delay();
  readonly #changesDelay = new Delay();

  constructor(
    private readonly store: Store,
    private readonly client: Client,
    private readonly failed: (error: Error) => void,
  ) {}

  /** A bucket is three pixels wide: narrower ones make a comb of what recurs, not an area. */
  readonly buckets = (): number => {
    const { width } = this.store.state;
    const plot = width > 0 ? width - GUTTER_PIXELS : USUAL_PIXELS;
    return Math.round(Math.min(MOST_BUCKETS, Math.max(LEAST_BUCKETS, plot / BUCKET_PIXELS)));
  };

  cancel(): void {
    this.#detail.cancel();
    this.#changes.cancel();
    this.#detailDelay.cancel();
    this.#changesDelay.cancel();
  }

  /** Asks for more of the view if what is there is too coarse for it. */
  refine(): void {
    this.#detailDelay.cancel();
    const { whole, view, detailError } = this.store.state;
    if (whole === undefined || view === undefined || this.#isFine(whole, view)) {
      this.#detail.cancel();
      if (detailError !== undefined) this.store.set({ detailError: undefined });
      return;
    }
    this.#detailDelay.after(DETAIL_MILLISECONDS, () => void this.#fetchDetail(whole, view));
  }

  #isFine(whole: Timeline, view: Window): boolean {
    const { detail } = this.store.state;
    const wanted = Math.max(1, Math.floor(span(view) / this.buckets()));
    return (
      whole.bucket_rows <= 1 ||
      (detail !== undefined && detail.bucket_rows <= wanted && contains(windowOf(detail), view))
    );
  }

  async #fetchDetail(whole: Timeline, view: Window): Promise<void> {
    const wide = padded(view, MARGIN, whole.rows);
    const share = span(wide) / span(view);
    const buckets = Math.min(MOST_BUCKETS, Math.round(this.buckets() * share));
    const part = { first: Math.floor(wide.from), last: Math.ceil(wide.to) - 1, buckets };
    try {
      const detail = await this.#detail.run((signal) =>
        this.client.timeline(whole.run, part, signal),
      );
      if (this.store.state.run === detail.run) this.store.set({ detail, detailError: undefined });
    } catch (error) {
      if (error instanceof Superseded) return;
      this.store.set({ detailError: error as Error });
      if (error instanceof RequestFailed && error.kind === "gone") this.failed(error);
    }
  }

  /** Compares the selection with what came before it; the old answer stays until the new one. */
  contrast(): void {
    this.#changesDelay.cancel();
    const { run, whole } = this.store.state;
    const selection = whole && clipped(this.store.state.selection, whole.rows);
    if (selection === undefined || stretchBefore(selection) === undefined || run === undefined) {
      this.#changes.cancel();
      this.store.set({ changes: undefined, changesError: undefined });
      return;
    }
    this.#changesDelay.after(CHANGES_MILLISECONDS, () => void this.#fetchChanges(run, selection));
  }

  async #fetchChanges(run: string, { from, to }: Window): Promise<void> {
    try {
      const changes = await this.#changes.run((signal) =>
        this.client.changed(run, from, to - 1, signal),
      );
      this.store.set({ changes, changesError: undefined });
    } catch (error) {
      if (error instanceof Superseded) return;
      this.store.set({ changesError: error as Error });
      if (error instanceof RequestFailed && error.kind === "gone") this.failed(error);
    }
  }
}

const windowOf = (timeline: Timeline): Window => ({ from: timeline.first, to: timeline.last + 1 });

/** The part of a window that lies inside the run. */
function clipped(window: Window | undefined, rows: number): Window | undefined {
  if (window === undefined || window.from >= rows) return undefined;
  return { from: Math.max(0, window.from), to: Math.min(rows, window.to) };
}
