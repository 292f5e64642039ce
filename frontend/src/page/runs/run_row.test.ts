import { describe, expect, it } from "vitest";
import { subjectOf } from "./run_row";

describe("the subject of a first cause", () => {
  it.each([
    ["retracing of train_step (train.py:41)", "train_step (train.py:41)"],
    ["work in Python: describe (loop.py:17)", "describe (loop.py:17)"],
    ["growing Python work in smooth (l.py:7)", "smooth (l.py:7)"],
    ["new sets of fetches in vae.py:84", "fetches in vae.py:84"],
    ["a pause in train.py:9", "train.py:9"],
    ["the Plots callback, which calls predict", "Plots"],
    ["garbage collection", ""],
    ["work in Python", ""],
    ["a loop over the examples of a batch: aligned (map_loop.py:9)", "aligned (map_loop.py:9)"],
  ])("%s is told as %s", (subject, told) => {
    expect(subjectOf(subject)).toBe(told);
  });
});
