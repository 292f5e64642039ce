import { render } from "lit-html";
import { describe, expect, it } from "vitest";
import { run, timeline } from "../../../tests/make";
import type { Source } from "../../api/wire/report";
import type { Page } from "../contract";
import { selectionSummary } from "./selection_summary";

/** Rows that take 1 s, of which input takes 0.25 s. */
function shown(stepsPerRow: number, source: Source): string {
  const data = timeline(100, 10);
  const rows = {
    ...data,
    steps_per_row: stepsPerRow,
    lost: { input_pipeline: data.row.map(() => 0.25) },
  };
  const page = { run: run({ source }), selection: { from: 20, to: 60 } } as unknown as Page;
  const place = document.createElement("div");
  render(selectionSummary(rows, page), place);
  return place.textContent ?? "";
}

describe("selection summary", () => {
  it("has the seconds of the steps, of which a row is one", () => {
    expect(shown(1, "records")).toBe(
      "Selected: 40 steps, mean 1.00 s; 10.0 s lost to input pipeline.",
    );
  });

  it("counts the seconds of rows that are sums once", () => {
    expect(shown(8, "records")).toBe(
      "Selected: 320 steps, mean 1.00 s per 8 steps; 10.0 s lost to input pipeline.",
    );
  });

  it("counts those of rows that are means for each of their steps", () => {
    expect(shown(8, "scalars")).toBe(
      "Selected: 320 steps, mean 1.00 s; 80.0 s lost to input pipeline.",
    );
  });
});
