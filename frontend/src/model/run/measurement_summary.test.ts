import { describe, expect, it } from "vitest";
import { cause, report, timeline } from "../../../tests/make";
import { checks, tally } from "./measurement_summary";

describe("checks", () => {
  it("tells what a cause cost that was named, as a short start is in a healthy run", () => {
    const start = cause({ cause: "warm_up", lost_seconds: 3, lost_fraction: 0.03 });
    const list = checks(report({ causes: [start], signals: [] }));
    expect(list[0]).toEqual({ id: "warm_up", seen: true, text: "3 s, 3.0%" });
  });

  it("does not call checked what no signal saw", () => {
    const list = checks(
      report({
        causes: [],
        signals: [{ signal: "retraces", status: "unavailable", reason: "another TensorFlow" }],
      }),
    );
    expect(list.find((check) => check.id === "retracing")).toEqual({
      id: "retracing",
      seen: false,
      text: "Another TensorFlow",
    });
    expect(list.find((check) => check.id === "thermal")?.seen).toBe(false);
    expect(tally(list).measured + tally(list).blind).toBe(21);
  });

  it("says what was measured", () => {
    const signals = ["retraces", "garbage_collection", "input_wait", "process_memory"].map(
      (signal) => ({ signal, status: "measured", reason: "" }) as const,
    );
    const rss = {
      signal: "rss_bytes",
      title: "",
      unit: "bytes",
      row: [0, 5],
      value: [2 ** 20, 2 ** 21],
    };
    const seen = timeline(10, 5, {
      marks: {
        retraces: [],
        gc: [{ row: 0, step: 0, count: 3, seconds: 0.5 }],
        checkpoints: [],
        captures: [],
      },
      accounts: [{ account: "input_wait", title: "", seconds: [0.001, 0.003] }],
      signals: [rss],
    });
    const texts = Object.fromEntries(
      checks(report({ causes: [], signals }), seen).map((check) => [check.id, check.text]),
    );
    expect(texts).toMatchObject({
      retracing: "0 retraces",
      garbage_collection: "3 pauses, 500 ms",
      input_pipeline: "2.00 ms per step",
      host_memory: "+1.00 MiB",
      checkpointing: "not measured",
      warm_up: "level",
    });
  });
});
