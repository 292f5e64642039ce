import { describe, expect, it } from "vitest";
import { memorySignal as signal, timeline } from "../../../tests/make";
import {
  accountLane,
  bridged,
  chosenLanes,
  fitted,
  laneOf,
  laneText,
  perStep,
  shortTitle,
  valueAt,
} from "./lane";

describe("lane", () => {
  it("keeps a gap a gap", () => {
    const row = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90];
    const value = [null, 1, 1, 1, null, null, null, null, null, 3];
    const lane = laneOf({ ...signal, row, value });
    expect(valueAt(lane, 5)).toBeNull();
    expect(valueAt(lane, 30)).toBe(1);
    expect(valueAt(lane, 40)).toBeNull();
    expect(laneText(lane, 45)).toBe("–");
    expect(valueAt(lane, -1)).toBeNull();
    expect(valueAt(lane, 99)).toBe(3);
  });

  it("joins samples over moments at which only other signals were sampled", () => {
    const row = [0, 1, 2, 3, 4, 5, 6, 20, 30];
    const value = [null, 7, null, 8, null, null, 9, null, 4];
    expect(bridged({ row, value })).toEqual({
      row: [0, 1, 3, 6, 20, 30],
      value: [null, 7, 8, 9, null, 4],
    });
    expect(bridged({ row: [0, 1], value: [null, null] }).value).toEqual([null, null]);
  });

  it("shows the seconds of an account, level over each bucket", () => {
    const account = { account: "input_wait", title: "Input wait", seconds: [0.001, null] };
    const lane = accountLane(account, timeline(20, 10, { accounts: [account] }));
    expect(lane).toMatchObject({
      id: "account:input_wait",
      title: "Input wait",
      stepped: true,
    });
    expect(lane.scale).toBe("0 to 1 ms per step");
    expect(laneText(lane, 3)).toBe("1.00 ms");
    expect(laneText(lane, 13)).toBe("–");
    const spiky = [0.5, ...Array.from({ length: 40 }, () => 0.001)];
    const long = timeline(410, 10, { accounts: [{ ...account, seconds: spiky }] });
    const cut = fitted(accountLane({ ...account, seconds: spiky }, long), 0, 410);
    expect(cut.scale).toMatch(/^0 to [\d.]+ ms per step$/);
    expect(cut.high).toBeLessThan(0.01);
  });

  it("chooses the largest accounts and the best known signals", () => {
    const accounts = ["a", "b", "c", "d"].map((name) =>
      accountLane({ account: name, title: name, seconds: [1, 2] }, timeline(2, 1)),
    );
    const signals = Array.from({ length: 9 }, (_, index) =>
      laneOf({ ...signal, signal: index === 8 ? "rss_bytes" : `other${index}`, value: [1, 2, 3] }),
    );
    const chosen = chosenLanes([...accounts, ...signals], false).map((lane) => lane.id);
    expect(chosen).toHaveLength(8);
    expect(chosen.slice(0, 3)).toEqual(["account:a", "account:b", "account:c"]);
    expect(chosen).toContain("rss_bytes");
    expect(chosenLanes([...accounts, ...signals], true)).toHaveLength(13);
  });

  it("puts what the causes are seen in first, in their order", () => {
    const of = (name: string, value = [1, 2]): ReturnType<typeof laneOf> =>
      laneOf({ ...signal, signal: name, title: name, row: [0, 10], value });
    const names = [
      "rss_bytes",
      "cpu_pressure_seconds",
      "x",
      "y",
      "z",
      "u",
      "v",
      "graph_operations",
    ];
    const lanes = [...names, "w", "major_faults"].map((name) => of(name));
    const first = chosenLanes(lanes, false, ["graph_growth", "host_memory"]);
    expect(first.slice(0, 2).map(({ id }) => id)).toEqual(["graph_operations", "major_faults"]);
    expect(first).toHaveLength(8);
    const all = chosenLanes(lanes, true, ["cpu_contention"]);
    expect(all.map(({ id }) => id)[0]).toBe("cpu_pressure_seconds");
  });

  it("ends its axis above the usual values in view, not above a single one", () => {
    const row = Array.from({ length: 300 }, (_, index) => index);
    const value = row.map((index) => (index === 0 ? 2500 : index < 200 ? 1 : 200));
    const lane = laneOf({ ...signal, unit: "count", row, value });
    expect(lane.high).toBe(2500);
    expect(fitted(lane, 0, 300)).toMatchObject({ high: 250, scale: "0 to 250" });
    expect(fitted(lane, 100, 200)).toMatchObject({ high: 1, scale: "0 to 1" });
  });

  it("turns a counter into what it adds a step, and a counter that fell into a gap", () => {
    const counter = { row: [0, 10, 10, 20, 30], value: [0, 50, 60, 5, 25] };
    expect(perStep(counter)).toEqual({ row: [0, 10, 20, 30], value: [6, null, 2, 2] });
    expect(perStep({ row: [3], value: [7] })).toEqual({ row: [3], value: [null] });
    expect(perStep({ row: [0, 10], value: [0, null] }).value).toEqual([null, null]);
  });

  it("begins at zero unless values are below it", () => {
    expect(laneOf({ ...signal, value: [5, 6, 7] }).low).toBe(0);
    expect(laneOf({ ...signal, value: [-5, 6, 7] }).low).toBe(-5);
  });

  it("has a short name with its device", () => {
    expect(shortTitle("allocator_in_use_bytes:GPU:0", "Allocator")).toBe("GPU:0 in use");
    expect(shortTitle("allocator_peak_bytes:/job:worker/replica:0/task:0/device:CPU:0", "A")).toBe(
      "CPU:0 peak",
    );
    expect(shortTitle("rss_bytes", "x")).toBe("Host RSS");
    expect(shortTitle("something:else", "Its title")).toBe("Its title");
  });
});
