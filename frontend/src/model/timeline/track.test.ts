import { describe, expect, it } from "vitest";
import { timeline } from "../../../tests/make";
import { bucketOfRow, rowOfStep, rowOfTime, stepOfRow, timeOfRow, trackOf } from "./track";

describe("trackOf", () => {
  it("places a row between the end of the step before and its own", () => {
    const track = trackOf(timeline(10, 1));
    expect(timeOfRow(track, 0)).toBe(1000);
    expect(timeOfRow(track, 1)).toBe(1001);
    expect(timeOfRow(track, 10)).toBe(1010);
    expect(rowOfTime(track, 1004.5)).toBeCloseTo(4.5, 9);
  });

  it("finds when a run began whose first bucket holds a long step", () => {
    // Rows 0-9: the first takes 91 s, the others 1 s; `time` is when a bucket's first step ended.
    const long = timeline(20, 10, {
      time: [91, 101],
      step_seconds: { mean: [10, 1], median: [1, 1], min: [1, 1], max: [91, 1] },
    });
    expect(timeOfRow(trackOf(long), 0)).toBeCloseTo(0, 9);
    expect(timeOfRow(trackOf(long), 20)).toBeCloseTo(110, 9);
  });

  it("never lets time run backwards", () => {
    const track = trackOf(timeline(4, 1, { time: [10, 9, 12, 11] }));
    expect([...track.knotTimes]).toEqual([...track.knotTimes].sort((a, b) => a - b));
  });
});

describe("steps", () => {
  it("are several in a row of a run that is too long", () => {
    const rows = { ...timeline(20, 10), steps_per_row: 8, step: [0, 80] };
    const track = trackOf(rows);
    expect([0, 3, 10, 19].map((row) => stepOfRow(track, row))).toEqual([0, 24, 80, 152]);
    expect([0, 25, 80, 159, 999].map((step) => rowOfStep(track, step))).toEqual([0, 3, 10, 19, 19]);
    const short = trackOf({ ...timeline(3, 1), steps_per_row: 4, step: [0, 4, 8] });
    expect(rowOfStep(short, 9)).toBe(2);
  });

  it("are rows and an offset in a run that counts on", () => {
    const track = trackOf(
      timeline(100, 10, { step: [500, 510, 520, 530, 540, 550, 560, 570, 580, 590] }),
    );
    expect(stepOfRow(track, 37)).toBe(537);
    expect(rowOfStep(track, 537)).toBe(37);
    expect(rowOfStep(track, 1)).toBe(0);
    expect(rowOfStep(track, 9999)).toBe(99);
  });

  it("are looked up in a resumed run, where steps come twice", () => {
    const resumed = timeline(6, 1, { step: [0, 1, 2, 1, 2, 3] });
    const track = trackOf(resumed);
    expect(track.offset).toBeUndefined();
    expect(stepOfRow(track, 3)).toBe(1);
    expect(rowOfStep(track, 3)).toBe(5);
  });

  it("knows the bucket of a row", () => {
    const track = trackOf(timeline(25, 10));
    expect([0, 9, 10, 24, 99].map((row) => bucketOfRow(track, row))).toEqual([0, 0, 1, 2, 2]);
  });
});
