import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { judged, run, timeline } from "../../tests/make";
import { later, Opened } from "../../tests/opened_app";
import { below } from "../panels/later";

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

  it("keeps the same steps in view, and in the address, where rows come to stand for several", async () => {
    await started();
    app.view({ from: 800, to: 1600 });
    app.select({ from: 1000, to: 1200 });
    await later(0.5);
    const address = app.link();
    expect(address).toContain("rows=800-1599");
    server.runs = [run({ run: "b", reported: 20, steps: 40_000 })];
    server.timeline = { ...timeline(5000, 10), steps_per_row: 8 };
    host.reload();
    await later(0.5);
    expect(app.state.view).toEqual({ from: 100, to: 200 });
    expect(app.state.selection).toEqual({ from: 125, to: 150 });
    expect(app.link()).toBe(address);
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

  it("says why a part is no finer, not that the runs can't be read, and asks again", async () => {
    await started();
    server.refused.set("first=", "Record 7 can't be read.");
    app.view({ from: 500, to: 600 });
    await later(0.5);
    expect(app.state.detailError?.message).toBe("Record 7 can't be read.");
    expect(app.state.runsError).toBeUndefined();
    expect(app.state.gone).toBeUndefined();
    server.refused.clear();
    host.reload();
    await later(0.5);
    expect(app.state.detailError).toBeUndefined();
    expect(app.state.detail).toBeDefined();
  });

  it("forgets why a part is no finer once the whole run is in view", async () => {
    await started();
    server.refused.set("first=", "Record 7 can't be read.");
    app.view({ from: 500, to: 600 });
    await later(0.5);
    app.view({ from: 0, to: 5000 });
    expect(app.state.detailError).toBeUndefined();
  });

  it("says at once that the server went when a part gets no answer", async () => {
    await started();
    server.gone = true;
    app.view({ from: 500, to: 600 });
    await later(0.5);
    expect(app.state.gone).toBeDefined();
    expect(app.state.detailError).toBeDefined();
    server.gone = false;
    await later(11);
    expect(app.state.detailError).toBeUndefined();
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
