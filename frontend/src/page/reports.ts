/** Reports of the runs that are compared, each asked for once, and again when its run has grown. */

import type { Client } from "../api/client";
import type { RunReport } from "../api/types";
import type { Store } from "./store";

export class Reports {
  /** Run -> when it had last reported as its report was asked for. */
  readonly #asked = new Map<string, number | null>();

  constructor(
    private readonly store: Store,
    private readonly client: Client,
  ) {}

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
