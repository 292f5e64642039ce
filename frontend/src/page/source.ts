/** The answers about one run at one moment: each route is asked once. */

import type { Client, Part } from "../api/client";
import type { Retraces, RunReport, Timeline } from "../api/types";
import type { Source } from "../panels/panel";

export class RunSource implements Source {
  #report: Promise<RunReport> | undefined;
  #timeline: Promise<Timeline> | undefined;
  #retraces: Promise<Retraces> | undefined;
  readonly #others = new Map<string, Promise<RunReport>>();

  constructor(
    private readonly client: Client,
    readonly run: string,
    private readonly buckets: number,
    private readonly signal: AbortSignal,
  ) {}

  report(): Promise<RunReport> {
    this.#report ??= this.client.report(this.run, this.signal);
    return this.#report;
  }

  timeline(): Promise<Timeline> {
    this.#timeline ??= this.part({ buckets: this.buckets });
    return this.#timeline;
  }

  retraces(): Promise<Retraces> {
    this.#retraces ??= this.client.retraces(this.run, this.signal);
    return this.#retraces;
  }

  reportOf(run: string): Promise<RunReport> {
    if (run === this.run) return this.report();
    const known = this.#others.get(run) ?? this.client.report(run, this.signal);
    this.#others.set(run, known);
    return known;
  }

  part(part: Part): Promise<Timeline> {
    return this.client.timeline(this.run, part, this.signal);
  }
}
