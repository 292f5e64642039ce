/** The page's app with a server and an address bar in memory. */

import { vi } from "vitest";
import { Client, type Fetch } from "../src/api/client";
import type { AllRuns } from "../src/api/wire/all_runs";
import type { Run } from "../src/api/wire/report";
import type { Timeline } from "../src/api/wire/timeline";
import { App } from "../src/page/app";
import type { Entry, Host } from "../src/page/host";
import { judged, report, run, timeline } from "./make";

const RETRACES = {
  status: { status: "measured", reason: "" },
  watched: 1,
  seconds: 0,
  traces: 0,
  groups: [],
  library: [],
};

/** A server in memory that counts what it was asked. */
class Server {
  asked: string[] = [];
  gone = false;
  runs: Run[] = [run({ run: "a", reported: 5 }), run({ run: "b", reported: 9 })];
  timeline: Timeline = timeline(5000, 10);
  found: AllRuns = { store: "s", number: 1, judged: 1, of: 2, rows: [judged({ run: "a" })] };
  /** Answers to hold back until the test lets them go, by a part of their address. */
  held = new Map<string, Promise<void>>();
  /** What is refused, by a part of its address, and why. */
  refused = new Map<string, string>();

  readonly fetch: Fetch = async (address) => {
    this.asked.push(address);
    if (this.gone) throw new TypeError("Failed to fetch");
    for (const [part, wait] of this.held) if (address.includes(part)) await wait;
    for (const [part, error] of this.refused) {
      if (address.includes(part)) return new Response(JSON.stringify({ error }), { status: 500 });
    }
    return new Response(JSON.stringify(this.#answer(address)));
  };

  #answer(address: string): unknown {
    const name = new URL(address, "http://x").searchParams.get("run") ?? "";
    if (address.startsWith("./runs")) return { runs: this.runs, other_runs: 0 };
    if (address.startsWith("./all_runs")) return this.found;
    if (address.startsWith("./report")) return { schema: 1, runs: [report({ run: name })] };
    if (address.startsWith("./timeline")) return { ...this.timeline, run: name };
    if (address.startsWith("./changed")) return { run: name, changes: [] };
    if (address.startsWith("./captures")) return { captures: [], status: RETRACES.status };
    return RETRACES;
  }

  count(route: string): number {
    return this.asked.filter((address) => address.startsWith(`./${route}`)).length;
  }
}

/** An address bar with its history, and keys that nobody presses. */
class FakeHost implements Host {
  address = "";
  /** What Back returns to. */
  entries: string[] = [];
  reload: () => void = () => undefined;
  hashChanged: () => void = () => undefined;
  hash = (): string => this.address;
  keep = (hash: string, entry: Entry): void => {
    if (entry === "new") this.entries.push(this.address);
    this.address = hash;
  };
  link = (): string => `http://tb/${this.address}`;
  onHash = (changed: () => void): void => {
    this.hashChanged = changed;
  };
  onKey = (): void => undefined;
  onReload = (reloaded: () => void): void => {
    this.reload = reloaded;
  };
  followTheme = (): void => undefined;
}

/** Runs timers and answers up to `seconds` from now. */
export const later = (seconds: number): Promise<unknown> =>
  vi.advanceTimersByTimeAsync(seconds * 1000);

/** What a test talks to: made anew for each. */
export class Opened {
  readonly server = new Server();
  readonly host = new FakeHost();
  readonly app = new App(
    new Client(this.server.fetch),
    this.host,
    () => undefined,
    () => true,
  );

  /** At run b, unless the test has gone elsewhere. */
  async started(): Promise<void> {
    if (this.host.address === "") this.host.address = "#slowdown&p.slowdown.run=b";
    void this.app.start();
    await later(0.5);
  }
}
