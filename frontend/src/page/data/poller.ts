/** Follows the runs as they grow, and a server that goes and comes back. */

import { type Client, RequestFailed } from "../../api/client";
import type { Run } from "../../api/wire/report";
import type { Timeline } from "../../api/wire/timeline";
import { Latest, Superseded } from "../../base/latest";
import { shownRun } from "../state/state";
import { Delay, type Store } from "../state/store";

/** As often as TensorBoard reads new records. */
const LIVE_SECONDS = 5;
const QUIET_SECONDS = 30;
/** Until the answers about a run that has ended are of all its steps. */
const BEHIND_SECONDS = 3;
const RETRY_SECONDS = 10;

/** While an analysis rests, the server answers with the one before: fewer steps than there are. */
export const isBehind = (whole: Timeline | undefined, run: Run | undefined): boolean =>
  whole !== undefined &&
  run !== undefined &&
  whole.run === run.run &&
  whole.rows * whole.steps_per_row < run.steps;

export class Poller {
  readonly #slot = new Latest();
  readonly #delay = new Delay();
  #answered: number | undefined;

  constructor(
    private readonly store: Store,
    private readonly client: Client,
    private readonly visible: () => boolean,
    private readonly now: () => number,
    /** Told of the runs there are now, and of how the shown one was before. */
    private readonly listed: (runs: readonly Run[], before: Run | undefined) => void,
  ) {}

  /** Asks now, and again after a while. */
  async refresh(): Promise<void> {
    this.#delay.cancel();
    try {
      const runs = await this.#slot.run((signal) => this.client.runs(signal));
      this.#answered = this.now();
      const before = shownRun(this.store.state);
      this.store.set({ runs, runsError: undefined, gone: undefined });
      this.listed(runs.runs, before);
    } catch (error) {
      if (error instanceof Superseded) return;
      this.failed(error as Error);
    }
    this.plan();
  }

  /** A server that does not answer is said in a banner; anything else, where there is no list. */
  readonly failed = (error: Error): void => {
    if (!(error instanceof RequestFailed) || error.kind !== "gone") {
      this.store.set({ runsError: error });
      return;
    }
    this.store.set({
      gone: {
        since: this.store.state.gone?.since ?? this.now(),
        state: this.#answered,
        next: this.now() + RETRY_SECONDS,
      },
    });
    this.plan();
  };

  /** Asks again after a while: how long depends on the run that is shown, and on what of it. */
  plan(): void {
    const run = shownRun(this.store.state);
    const { whole, runs } = this.store.state;
    const ended = isBehind(whole, run) ? BEHIND_SECONDS : QUIET_SECONDS;
    const grows = run?.live || runs?.runs.length === 0;
    const quiet = grows ? LIVE_SECONDS : ended;
    const seconds = this.store.state.gone === undefined ? quiet : RETRY_SECONDS;
    this.#delay.after(seconds * 1000, () => {
      if (this.visible()) void this.refresh();
      else this.plan();
    });
  }
}
