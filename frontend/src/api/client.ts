/**
 * The server's routes as functions. GET only, relative addresses only: TensorBoard's frame has
 * a base of `plugin/slowdown/`, also behind a path prefix or a notebook's proxy.
 */

import type { AllRuns } from "./wire/all_runs";
import type { Capture, CaptureComparison, CaptureList, CapturePart } from "./wire/captures";
import type { Changed } from "./wire/changed";
import type { RunComparison, SideBySide } from "./wire/comparison";
import type { Progress, Report, RunReport, Runs } from "./wire/report";
import type { Retraces } from "./wire/retraces";
import type { Timeline } from "./wire/timeline";

export type Fetch = (address: string, init: { signal?: AbortSignal }) => Promise<Response>;

/** Why there is no answer: nobody answered, the request was refused, or the answer is no JSON. */
export type FailureKind = "gone" | "refused" | "broken";

/** A request that got no usable answer; the message is meant for the reader of the page. */
export class RequestFailed extends Error {
  constructor(
    readonly kind: FailureKind,
    readonly address: string,
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "RequestFailed";
  }
}

/** A part of a run: rows `first` to `last` inclusive, in at most `buckets` groups. */
export interface Part {
  readonly first?: number;
  readonly last?: number;
  readonly buckets: number;
}

export class Client {
  readonly #fetch: Fetch;

  constructor(fetcher: Fetch = (address, init) => fetch(address, init)) {
    this.#fetch = fetcher;
  }

  runs(signal?: AbortSignal): Promise<Runs> {
    return this.#get<Runs>("runs", {}, signal);
  }

  /** What was found in each run; `since` and `store` are those of the answer before. */
  allRuns(since: number, store: string): Promise<AllRuns> {
    return this.#get<AllRuns>("all_runs", { since, store });
  }

  async report(run: string, signal?: AbortSignal): Promise<RunReport> {
    const report = await this.#get<Report>("report", { run, editor: 1 }, signal);
    const [only] = report.runs;
    if (only === undefined) {
      throw new RequestFailed("broken", "report", 200, `The report of ${run} is empty.`);
    }
    return only;
  }

  /** How much of a run the server has read, for who waits for its report. */
  progress(run: string, signal?: AbortSignal): Promise<Progress> {
    return this.#get<Progress>("progress", { run }, signal);
  }

  timeline(run: string, part: Part, signal?: AbortSignal): Promise<Timeline> {
    return this.#get<Timeline>("timeline", { run, ...part }, signal);
  }

  /** Rows `first` to `last`, inclusive, against the stretch before. */
  changed(run: string, first: number, last: number, signal?: AbortSignal): Promise<Changed> {
    return this.#get<Changed>("changed", { run, first, last }, signal);
  }

  /** Two groups of runs; any name may be among them, so they travel as JSON. */
  comparison(
    base: readonly string[],
    runs: readonly string[],
    signal?: AbortSignal,
  ): Promise<RunComparison> {
    const sides = { base: JSON.stringify(base), runs: JSON.stringify(runs) };
    return this.#get<RunComparison>("compare", sides, signal);
  }

  /** Several runs in columns. */
  sideBySide(runs: readonly string[], signal?: AbortSignal): Promise<SideBySide> {
    return this.#get<SideBySide>("side_by_side", { runs: JSON.stringify(runs) }, signal);
  }

  retraces(run: string, signal?: AbortSignal): Promise<Retraces> {
    return this.#get<Retraces>("retraces", { run }, signal);
  }

  captures(run: string, signal?: AbortSignal): Promise<CaptureList> {
    return this.#get<CaptureList>("captures", { run }, signal);
  }

  /** One capture, or the steps of it whose places are `first` to `last`. */
  capture(run: string, capture: string, part: CapturePart): Promise<Capture> {
    return this.#get<Capture>("capture", { run, capture, ...part });
  }

  compareCaptures(run: string, fast: string, slow: string): Promise<CaptureComparison> {
    return this.#get<CaptureComparison>("compare_captures", { run, fast, slow });
  }

  /** Whether XProf's trace viewer can be shown; its address is private, so it is tried. */
  async hasTraceViewer(): Promise<boolean> {
    try {
      const listed = await this.#fetch("../../plugins_listing", {});
      const plugins = (await listed.json()) as Readonly<Record<string, unknown>>;
      if (!("profile" in plugins)) return false; // asking further would be an error in the console
      return (await this.#fetch("../profile/trace_viewer_index.html", {})).ok;
    } catch {
      return false;
    }
  }

  async #get<Answer>(
    route: string,
    parameters: Readonly<Record<string, string | number>>,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const address = addressOf(route, parameters);
    let response: Response;
    try {
      response = await this.#fetch(address, signal === undefined ? {} : { signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new RequestFailed("gone", address, 0, "TensorBoard hasn't responded.");
    }
    const text = await response.text();
    if (!response.ok) throw refusal(address, response.status, text);
    try {
      return JSON.parse(text) as Answer;
    } catch {
      throw new RequestFailed(
        "broken",
        address,
        response.status,
        `The answer to ${route} is not JSON (${text.length.toLocaleString("en-US")} characters).`,
      );
    }
  }
}

/** The relative address of a route: `./report?run=a%20b`. */
export function addressOf(
  route: string,
  parameters: Readonly<Record<string, string | number>>,
): string {
  const query = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return `./${route}${query === "" ? "" : `?${query}`}`;
}

function refusal(address: string, status: number, text: string): RequestFailed {
  let message = `The server answered with status ${status}.`;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "error" in body) message = String(body.error);
  } catch {
    // An error page of TensorBoard's own: the status says as much as its HTML does.
  }
  return new RequestFailed("refused", address, status, message);
}
