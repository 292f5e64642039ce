import { describe, expect, it } from "vitest";
import { timeline } from "../../../tests/make";
import type { Source } from "../../api/wire/report";
import { type SelectionSums, sumsOf } from "./selection_sums";

/** Of 40 rows that take 1 s each, of which input takes 0.25 s. */
function sums(stepsPerRow: number, source: Source): SelectionSums {
  const data = timeline(100, 10);
  const lost = { input_pipeline: data.row.map(() => 0.25) };
  return sumsOf({ ...data, steps_per_row: stepsPerRow, lost }, { from: 25, to: 65 }, source);
}

const lost = (seconds: number): unknown => [{ id: "input_pipeline", seconds }];

describe("sums of a selection", () => {
  it("are those of its steps", () => {
    const found = { steps: 40, meanSeconds: 1, meanSteps: 1, lost: lost(10) };
    expect(sums(1, "records")).toEqual(found);
    expect(sums(1, "scalars")).toEqual(found);
  });

  it("count rows that are sums once", () => {
    expect(sums(8, "records")).toEqual({
      steps: 320,
      meanSeconds: 1,
      meanSteps: 8,
      lost: lost(10),
    });
  });

  it("count rows that are means for each of their steps", () => {
    expect(sums(8, "scalars")).toEqual({
      steps: 320,
      meanSeconds: 1,
      meanSteps: 1,
      lost: lost(80),
    });
  });
});
