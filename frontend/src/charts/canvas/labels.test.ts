import { describe, expect, it } from "vitest";
import { placeLabels } from "./labels";

describe("placeLabels", () => {
  it("never lets two labels overlap", () => {
    const labels = [10, 14, 18, 22, 600].map((x) => ({ x, width: 200 }));
    const placed = placeLabels(labels, 800);
    for (const a of placed) {
      for (const b of placed) {
        if (a === b || a.line !== b.line) continue;
        expect(Math.abs(a.left - b.left)).toBeGreaterThanOrEqual(200);
      }
    }
    expect(placed.map((one) => one.label)).toEqual([0, 1, 2, 4]);
  });

  it("leaves out what fits nowhere", () => {
    expect(placeLabels([{ x: 5, width: 500 }], 300)).toEqual([]);
  });
});
