/** The answers about one run at one moment: each route is asked once. */

import { type Client, RequestFailed } from "../../api/client";
import type { CapturePart } from "../../api/wire/captures";
import type { RunComparison, SideBySide } from "../../api/wire/comparison";
import type { RunReport } from "../../api/wire/report";
import type { Retraces } from "../../api/wire/retraces";
import type { Timeline } from "../../api/wire/timeline";
import type { Source } from "../../panels/contract";

/** The server refuses to send more. */
export const MOST_BUCKETS = 2000;

export class RunSource implements Source {
  #report: Promise<RunReport> | undefined;
  #timeline: Promise<Timeline> | undefined;
  #retraces: Promise<Retraces> | undefined;

  constructor(
    private readonly client: Client,
    readonly run: string,
    private readonly buckets: number,
    private readonly signal: AbortSignal,
  ) {}

  /** Nobody asked for another run, or for this one anew, in the meantime. */
  get wanted(): boolean {
    return !this.signal.aborted;
  }

  report(): Promise<RunReport> {
    this.#report ??= this.client.report(this.run, this.signal);
    return this.#report;
  }

  timeline(): Promise<Timeline> {
    this.#timeline ??= this.client.timeline(this.run, { buckets: this.buckets }, this.signal);
    return this.#timeline;
  }

  async captures(): ReturnType<Source["captures"]> {
    const source = {
      run: this.run,
      capture: (id: string, part: CapturePart) => this.client.capture(this.run, id, part),
      compareCaptures: (fast: string, slow: string) =>
        this.client.compareCaptures(this.run, fast, slow),
      hasTraceViewer: () => this.client.hasTraceViewer(),
    };
    try {
      return { list: await this.client.captures(this.run, this.signal), source };
    } catch (error) {
      // A report in one file holds no captures.
      if (!(error instanceof RequestFailed) || error.status !== 404) throw error;
      const status = {
        status: "unavailable",
        reason: "a saved report doesn't include them",
      } as const;
      return { list: { captures: [], status }, source };
    }
  }

  comparison(base: readonly string[], runs: readonly string[]): Promise<RunComparison> {
    return this.client.comparison(base, runs, this.signal);
  }

  sideBySide(runs: readonly string[]): Promise<SideBySide> {
    return this.client.sideBySide(runs, this.signal);
  }

  retraces(): Promise<Retraces> {
    this.#retraces ??= this.client.retraces(this.run, this.signal);
    return this.#retraces;
  }
}
