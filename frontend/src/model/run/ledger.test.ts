import { describe, expect, it } from "vitest";
import { cause, report } from "../../../tests/make";
import { cards } from "./cards";
import { firstWord, segments, terms } from "./ledger";

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

describe("terms", () => {
  it("adds up to the wall, healthy first, unexplained last", () => {
    const ledger = terms(report());
    expect(ledger.map((term) => term.id)).toEqual([
      "healthy",
      "retracing",
      "garbage_collection",
      "unexplained",
    ]);
    expect(ledger.map((term) => term.seconds)).toEqual([60, 30, 6, 4]);
    expect(total(ledger.map((term) => term.share))).toBeCloseTo(1, 12);
  });

  it("has one term for two callbacks", () => {
    const causes = [
      cause({ cause: "callbacks", lost_seconds: 20 }),
      cause({ cause: "callbacks", rank: 2, lost_seconds: 16 }),
    ];
    const ledger = terms(report({ causes }));
    expect(ledger.map(({ id, seconds }) => [id, seconds])).toEqual([
      ["healthy", 60],
      ["callbacks", 36],
      ["unexplained", 4],
    ]);
  });

  it("shows what waits to be confirmed apart from what is unexplained", () => {
    const confirming = {
      seconds: 3,
      since_step: 80,
      growth_fraction: 0.5,
      candidate: "input_pipeline",
      decided_step: 120,
      text: "Slower since about step 80 (+50%). Confirming the cause.",
    };
    const ledger = terms(report({ confirming }));
    expect(ledger.map(({ id, seconds }) => [id, seconds])).toEqual([
      ["healthy", 60],
      ["retracing", 30],
      ["garbage_collection", 6],
      ["confirming", 3],
      ["unexplained", 1],
    ]);
    expect(total(ledger.map((term) => term.seconds))).toBe(100);
    const ids = cards(report({ confirming })).map((card) => card.id);
    expect(ids).toEqual(["retracing", "garbage_collection", "confirming", "unexplained"]);
  });

  it("leaves out what is nothing, and survives a run without time", () => {
    const empty = report({ wall_seconds: 0, causes: [], unexplained_seconds: 0 });
    expect(terms(empty)).toEqual([
      { id: "healthy", code: "", name: "Healthy", seconds: 0, share: 0 },
    ]);
  });
});

/** Of a face in which every letter is as wide. */
const width = (text: string): number => 7.6 * text.length;

describe("segments", () => {
  it("fills the bar exactly, true to seconds", () => {
    const bar = segments(terms(report()), 1006, width);
    expect(total(bar.map((segment) => segment.widthPixels)) + 6).toBeCloseTo(1006, 9);
    expect(bar.map((segment) => segment.widthPixels)).toEqual([600, 300, 60, 40]);
  });

  it("gives the smallest 24 px and takes them from Healthy", () => {
    const small = report({ causes: [cause({ lost_seconds: 0.1 })], unexplained_seconds: 0 });
    const [healthy, tiny] = segments(terms(small), 1002, width);
    expect(tiny?.widthPixels).toBe(24);
    expect(healthy?.widthPixels).toBeCloseTo(1000 - 24, 9);
  });

  it("takes them from the widest where Healthy has nothing left to give", () => {
    const causes = [cause({ lost_seconds: 94 }), cause({ cause: "callbacks", lost_seconds: 1 })];
    const bar = segments(terms(report({ causes, unexplained_seconds: 1 })), 306, width);
    expect(bar.map((segment) => segment.widthPixels)).toEqual([24, 228, 24, 24]);
  });

  it("shows only what fits", () => {
    const labels = segments(terms(report()), 700, width).map((segment) => segment.label);
    expect(labels).toEqual(["full", "full", "code", "code"]);
    const wider = segments(terms(report()), 1400, width).map((segment) => segment.label);
    expect(wider[2]).toBe("word");
    expect(firstWord("Garbage collection")).toBe("Garbage");
  });

  it("leaves a share out rather than cut it", () => {
    const ledger = terms(report({ causes: [cause({ lost_seconds: 40 })], unexplained_seconds: 0 }));
    // "Retracing 40.0%": 9 bold letters, 5 others, what lies between them and around.
    const needed = 9 * 10 + 5 * 5 + 6 + 16;
    const wide = (text: string, weight: 400 | 600): number =>
      text.length * (weight === 600 ? 10 : 5);
    const label = (pixels: number) => segments(ledger, 2 + pixels / 0.4, wide)[1]?.label;
    expect(label(needed)).toBe("full");
    expect(label(needed - 1)).toBe("name");
    expect(label(90 + 16)).toBe("name");
    expect(label(90 + 15)).toBe("code");
  });
});
