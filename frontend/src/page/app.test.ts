import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { judged, report, run, timeline } from "../../tests/make";
import { Client, type Fetch } from "../api/client";
import type { AllRuns } from "../api/wire/all_runs";
import type { Run } from "../api/wire/report";
import type { Timeline } from "../api/wire/timeline";
import { below } from "../panels/later";
import { App } from "./app";
import type { Entry, Host } from "./host";
import { shownRun } from "./state/state";

beforeAll(() => below().then(() => undefined));

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

  readonly fetch: Fetch = async (address) => {
    this.asked.push(address);
    if (this.gone) throw new TypeError("Failed to fetch");
    for (const [part, wait] of this.held) if (address.includes(part)) await wait;
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

let server: Server;
let host: FakeHost;
let app: App;

/** Runs timers and answers up to `seconds` from now. */
const later = (seconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(seconds * 1000);

beforeEach(async () => {
  vi.useFakeTimers();
  server = new Server();
  host = new FakeHost();
  app = new App(
    new Client(server.fetch),
    host,
    () => undefined,
    () => true,
  );
});

afterEach(() => {
  vi.useRealTimers();
});

/** At run b, unless the test has gone elsewhere. */
async function started(): Promise<void> {
  if (host.address === "") host.address = "#slowdown&p.slowdown.run=b";
  void app.start();
  await later(0.5);
}

describe("opening", () => {
  it("shows all runs first where there are several", async () => {
    host.address = "#slowdown";
    await started();
    expect(app.state.run).toBeUndefined();
    expect(app.state.found.get("a")?.digest?.verdict).toBe("slowdown");
    expect(server.count("report")).toBe(0);
  });

  it("shows a worker under the name of its run, and of no run that is not listed", async () => {
    host.address = "#slowdown&p.slowdown.run=b%2Fslowdown%2Fworker-2";
    await started();
    expect(shownRun(app.state)).toMatchObject({
      run: "b/slowdown/worker-2",
      title: "b, worker 2",
      reported: 9,
      steps: app.state.report?.steps,
    });
    expect(server.asked).toContain("./report?run=b%2Fslowdown%2Fworker-2&editor=1");
    const top = { ...app.state, run: "slowdown/worker-1" };
    expect(shownRun(top)).toBeUndefined();
    const runs = { runs: [run({ run: ".", title: "logs" })], other_runs: 0 };
    expect(shownRun({ ...top, runs })?.title).toBe("logs, worker 1");
    expect(shownRun({ ...top, run: "worker-1" })).toBeUndefined();
    // A report in one file may be that of a worker alone.
    const alone = { runs: [run({ run: "slowdown/worker-1", title: "mine" })], other_runs: 0 };
    expect(shownRun({ ...top, runs: alone })?.title).toBe("mine");
  });

  it("shows the run where there is one", async () => {
    server.runs = [run({ run: "only" })];
    host.address = "#slowdown";
    await started();
    expect(app.state.run).toBe("only");
  });

  it("shows the run of the address, each answer asked for once", async () => {
    await started();
    expect(app.state.run).toBe("b");
    expect([...app.state.panels.keys()]).toContain("verdict");
    expect(server.count("report")).toBe(1);
    expect(server.count("timeline")).toBeLessThanOrEqual(2);
    expect(app.state.loadingSince).toBeUndefined();
  });

  it("restores run, rows and selection from the address", async () => {
    host.address =
      "#slowdown&p.slowdown.run=a&p.slowdown.rows=100-199&p.slowdown.selection=120-129";
    await started();
    expect(app.state.run).toBe("a");
    expect(app.state.view).toEqual({ from: 100, to: 200 });
    expect(app.state.selection).toEqual({ from: 120, to: 130 });
    expect(server.asked).toContain("./changed?run=a&first=120&last=129");
    expect(app.state.changes?.run).toBe("a");
  });

  it("keeps the capture beside the timeline in the address", async () => {
    const trace = { id: "a/2026_11_21", at: { from: 7, to: 8 } };
    host.address = "#slowdown&p.slowdown.run=a&p.slowdown.trace=a%2F2026_11_21&p.slowdown.at=7-7";
    await started();
    expect(app.state.trace).toEqual(trace);
    app.openTrace({ id: "a/2026_11_22" });
    await later(0.5);
    expect(host.address).toContain("p.slowdown.trace=a%2F2026_11_22");
    expect(host.address).not.toContain("p.slowdown.at");
    app.choose("b");
    expect(app.state.trace).toBeUndefined();
  });

  it("says that it is loading only when that takes long", async () => {
    server.held.set("runs", new Promise(() => undefined));
    void app.start();
    await later(0.1);
    expect(app.state.loadingSince).toBeUndefined();
    await later(0.2);
    expect(app.state.loadingSince).toBeDefined();
  });
});

describe("choosing another run", () => {
  it("drops late answers of the run before", async () => {
    await started();
    let letGo: () => void = () => undefined;
    server.held.set(
      "run=a",
      new Promise<void>((done) => {
        letGo = done;
      }),
    );
    app.choose("a");
    app.choose("b");
    await later(0.1);
    letGo();
    await later(0.1);
    expect(app.state.run).toBe("b");
    expect(app.state.report?.run).toBe("b");
    expect(app.state.whole?.run).toBe("b");
  });

  it("keeps it in the address", async () => {
    await started();
    app.choose("a");
    await later(1);
    expect(host.address).toBe("#slowdown&p.slowdown.run=a");
  });
});

describe("the history", () => {
  it("has an entry for each run, range, and trace, and none for what is opened at first", async () => {
    await started();
    await later(1);
    expect(host.entries).toEqual([]);
    app.view({ from: 100, to: 200 });
    app.view({ from: 110, to: 210 });
    await later(1);
    app.select({ from: 120, to: 130 });
    await later(1);
    app.openTrace({ id: "b/2026_11_21" });
    await later(1);
    app.choose("a");
    await later(1);
    const of = (name: string): string[] =>
      host.entries.map((one) => new RegExp(`${name}=([^&]*)`).exec(one)?.[1] ?? "");
    expect(of("run")).toEqual(["b", "b", "b", "b"]);
    expect(of("rows")).toEqual(["", "110-209", "110-209", "110-209"]);
    expect(of("selection")).toEqual(["", "", "120-129", "120-129"]);
  });

  it("has none for a card, an axis, or what is stacked, which the address keeps", async () => {
    await started();
    await later(1);
    app.card("retracing", true);
    app.axis("time");
    app.lostOnly(true);
    app.lanes(true);
    app.table(true);
    app.sort("count");
    await later(1);
    expect(host.entries).toEqual([]);
    expect(host.address).toContain("show=time%2Clost%2Clanes%2Ctable%2Ccount");
  });

  it("asks what is slower since a step, keeps that in the address, and Back undoes it", async () => {
    await started();
    const before = host.address;
    app.since(4200);
    await later(1);
    expect(app.state.selection).toEqual({ from: 4200, to: 5000 });
    expect(host.address).toContain("p.slowdown.since=4200");
    expect(server.asked.at(-1)).toContain("first=4200&last=4999");
    expect(app.state.changes).toBeDefined();
    expect(host.entries).toEqual([before]);
    app.select({ from: 10, to: 20 });
    expect(app.state.since).toBeUndefined();
    host.address = before;
    host.hashChanged();
    expect(app.state.selection).toBeUndefined();
  });

  it("shows one layer alone, as the address says", async () => {
    await started();
    app.layer("retracing", false);
    await later(1);
    expect(host.address).toContain("p.slowdown.layers=retracing");
    app.layer("retracing", false);
    await later(1);
    expect(host.address).not.toContain("layers");
  });

  it("goes back to the view before, and leaves it alone while another tab is open", async () => {
    await started();
    app.view({ from: 100, to: 200 });
    await later(1);
    const zoomed = host.address;
    host.address = "#scalars";
    host.hashChanged();
    expect(app.state.view).toEqual({ from: 100, to: 200 });
    host.address = host.entries[0] ?? "";
    host.hashChanged();
    expect(app.state.view).toBeUndefined();
    host.address = zoomed.replace("rows", "show=time&p.slowdown.rows");
    host.hashChanged();
    expect(app.state).toMatchObject({ view: { from: 100, to: 200 }, axis: "time" });
  });
});

describe("zooming", () => {
  it("asks for finer data with a margin, once, after the hand rests", async () => {
    await started();
    const before = server.count("timeline");
    for (let step = 0; step < 10; step++) app.view({ from: 1000 + step, to: 1400 + step });
    await later(0.5);
    expect(server.count("timeline") - before).toBe(1);
    expect(server.asked.at(-1)).toContain("first=809&last=1608&buckets=800");
  });

  it("asks for nothing where every row is there already", async () => {
    server.timeline = timeline(500, 1);
    await started();
    const before = server.count("timeline");
    app.view({ from: 10, to: 20 });
    await later(0.5);
    expect(server.count("timeline")).toBe(before);
  });

  it("forgets the view when the whole run is shown, so that it follows a run that grows", async () => {
    await started();
    app.view({ from: 10, to: 200 });
    app.view({ from: -5, to: 99999 });
    expect(app.state.view).toBeUndefined();
  });
});

describe("living", () => {
  it("loads a run that has grown and leaves the view where it is", async () => {
    await started();
    app.view({ from: 100, to: 200 });
    server.runs = [run({ run: "b", reported: 20, steps: 6000 })];
    host.reload();
    await later(0.5);
    expect(server.count("report")).toBe(2);
    expect(app.state.view).toEqual({ from: 100, to: 200 });
  });

  it("asks again soon while the answers are of fewer steps than the run has", async () => {
    server.runs = [run({ run: "b", reported: 9, steps: 6000 })];
    await started();
    host.reload();
    await later(0.5);
    expect(app.state.whole?.rows).toBe(5000);
    server.timeline = timeline(6000, 10);
    await later(4);
    expect(app.state.whole?.rows).toBe(6000);
    const before = server.count("report");
    await later(20);
    expect(server.count("report")).toBe(before);
  });

  it("knows that a row of a very long run is several steps", async () => {
    server.runs = [run({ run: "b", reported: 9, steps: 20_000 })];
    server.timeline = { ...timeline(5000, 10), steps_per_row: 4 };
    await started();
    const before = server.count("report");
    host.reload();
    await later(0.5);
    expect(server.count("report")).toBe(before);
  });

  it("asks nothing more about a run that has not", async () => {
    await started();
    const before = server.asked.length;
    host.reload();
    await later(0.5);
    expect(server.asked.slice(before)).toEqual(["./runs"]);
  });

  it("keeps what it has when the server goes, says so, and comes back by itself", async () => {
    await started();
    server.gone = true;
    host.reload();
    await later(0.5);
    expect(app.state.gone).toBeDefined();
    expect(app.state.report?.run).toBe("b");
    const since = app.state.gone?.since;
    await later(11);
    expect(app.state.gone?.since).toBe(since);
    server.gone = false;
    await later(11);
    expect(app.state.gone).toBeUndefined();
  });

  it("says at once that the server went when a selection gets no answer, and asks again", async () => {
    await started();
    server.gone = true;
    app.select({ from: 500, to: 600 });
    await later(0.5);
    expect(app.state.gone).toBeDefined();
    expect(app.state.changesError).toBeDefined();
    server.gone = false;
    await later(11);
    expect(app.state.changesError).toBeUndefined();
    expect(app.state.changes).toBeDefined();
  });
});

describe("the table of all runs", () => {
  it("asks until all runs are judged, and only for what is new", async () => {
    host.address = "#slowdown";
    await started();
    expect(server.asked.filter((one) => one.startsWith("./all_runs"))[0]).toBe(
      "./all_runs?since=0&store=",
    );
    server.found = { ...server.found, number: 2, judged: 2, rows: [judged({ run: "b" })] };
    await later(1.1);
    expect(server.asked.at(-1)).toBe("./all_runs?since=1&store=s");
    expect([...app.state.found.keys()]).toEqual(["a", "b"]);
    const asked = server.count("all_runs");
    await later(5);
    expect(server.count("all_runs")).toBe(asked);
  });

  it("forgets what a server found that was started again", async () => {
    host.address = "#slowdown";
    await started();
    server.found = { store: "t", number: 1, judged: 2, of: 2, rows: [judged({ run: "b" })] };
    await later(1.1);
    expect([...app.state.found.keys()]).toEqual(["b"]);
  });

  it("keeps filter, order, choice, and groups in the address, and Back returns to them", async () => {
    host.address = "#slowdown";
    await started();
    app.list({ filter: "lost>=10" });
    app.order("lost", true);
    app.pick("b");
    app.pick("a");
    app.list({ grouped: false, closed: ["bert"] });
    await later(0.3);
    const address = host.address;
    expect(address).toBe(
      "#slowdown&p.slowdown.filter=lost%3E%3D10&p.slowdown.sort=-lost&p.slowdown.group=no&p.slowdown.pick=b&p.slowdown.pick=a&p.slowdown.fold=bert",
    );
    const { list } = app.state;
    app.comparePicked();
    await later(0.5);
    expect(host.address).toBe("#slowdown&p.slowdown.run=b&p.slowdown.compare=a");
    expect(host.entries).toEqual([address]);
    host.address = address;
    host.hashChanged();
    await later(0.1);
    expect(app.state.run).toBeUndefined();
    expect(app.state.list).toEqual(list);
  });

  it("turns the order around at the second click", async () => {
    app.order("lost", true);
    app.order("lost", true);
    expect(app.state.list.order).toEqual({ by: "lost", descending: false });
  });
});
