import { describe, expect, it } from "vitest";
import { between, clamped, contains, inRows, padded, shifted, whole, zoomed } from "./window";

describe("window", () => {
  it("keeps the row under the pointer in its place while zooming", () => {
    const view = { from: 100, to: 300 };
    const near = zoomed(view, 150, 0.5, 1000);
    expect(near).toEqual({ from: 125, to: 225 });
    expect((150 - near.from) / 100).toBe((150 - view.from) / 200);
  });

  it("never leaves the run and never gets too narrow", () => {
    expect(shifted({ from: 0, to: 10 }, -5, 100)).toEqual({ from: 0, to: 10 });
    expect(shifted({ from: 90, to: 100 }, 50, 100)).toEqual({ from: 90, to: 100 });
    expect(zoomed({ from: 50, to: 54 }, 52, 0.1, 100)).toEqual({ from: 50, to: 54 });
    expect(zoomed(whole(100), 50, 2, 100)).toEqual({ from: 0, to: 100 });
    expect(clamped({ from: 0, to: 1 }, 1)).toEqual({ from: 0, to: 1 });
  });

  it("pads without passing the ends", () => {
    expect(padded({ from: 0, to: 100 }, 0.1, 1000)).toEqual({ from: 0, to: 110 });
  });

  it("has whole rows of another kind, with all of its own", () => {
    expect(inRows({ from: 333, to: 401 }, 1 / 8)).toEqual({ from: 41, to: 51 });
    expect(inRows({ from: 41, to: 51 }, 8)).toEqual({ from: 328, to: 408 });
    expect(inRows({ from: 0.5, to: 9.5 }, 1)).toEqual({ from: 0.5, to: 9.5 });
  });

  it("holds both rows it is made from", () => {
    expect(between(9, 4)).toEqual({ from: 4, to: 10 });
    expect(contains({ from: 0, to: 10 }, between(9, 4))).toBe(true);
    expect(contains({ from: 5, to: 10 }, between(9, 4))).toBe(false);
  });
});
