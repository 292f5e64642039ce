import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { run, timeline } from "../../tests/make";
import { later, Opened } from "../../tests/opened_app";
import { below } from "../panels/later";
import { shownRun } from "./state/state";

let server: Opened["server"];
let host: Opened["host"];
let app: Opened["app"];
let started: () => Promise<void>;

beforeAll(() => below().then(() => undefined));

beforeEach(() => {
  vi.useFakeTimers();
  const opened = new Opened();
  ({ server, host, app } = opened);
  started = () => opened.started();
});

afterEach(() => {
  vi.useRealTimers();
});

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
