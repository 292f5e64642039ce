/** Reports of runs that are compared or listed: asked for once, and again when a run has grown. */

import type { Client } from "../../api/client";
import type { RunReport } from "../../api/wire/report";
import type { Store } from "../state/store";

/** A report of a long run takes seconds: the shown run must not wait behind a list. */
const AT_ONCE = 2;

export class Reports {
  /** Run -> when it had last reported as its report was asked for. */
  readonly #asked = new Map<string, number | null>();
  #waiting: string[] = [];
  #busy = 0;

  constructor(
    private readonly store: Store,
    private readonly client: Client,
  ) {}

  /** Asks for many, a few at a time, in their order; a later list replaces the one before. */
  list(runs: readonly string[]): void {
    this.#waiting = [...runs];
    while (this.#busy < AT_ONCE && this.#waiting.length > 0) void this.#work();
  }

  async #work(): Promise<void> {
    this.#busy++;
    for (let run = this.#waiting.shift(); run !== undefined; run = this.#waiting.shift()) {
      await this.want(run);
    }
    this.#busy--;
  }

  async want(run: string): Promise<void> {
    const known = this.store.state.runs?.runs.find((one) => one.run === run);
    const reported = known?.reported ?? null;
    if (this.#asked.get(run) === reported) return;
    this.#asked.set(run, reported);
    const put = (report: RunReport | Error): void =>
      this.store.set({ reports: new Map(this.store.state.reports).set(run, report) });
    try {
      put(await this.client.report(run));
    } catch (error) {
      put(error as Error);
    }
  }
}
