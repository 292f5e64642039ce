import { describe, expect, it } from "vitest";
import type { Change, Changed } from "../../api/wire/changed";
import { answerSince } from "./answer";

const change = (
  id: string,
  before: number,
  here: number,
  values: Partial<Change> = {},
): Change => ({
  id,
  title: id,
  unit: "seconds",
  per_step: true,
  by: "median",
  before: { low: before, level: before, high: before },
  here: { low: here, level: here, high: here },
  difference: here - before,
  strength: 9,
  kind: "changed",
  reading: "",
  ...values,
});

const found = (...changes: Change[]): Changed => ({
  run: "run1",
  first: 800,
  last: 999,
  before_first: 0,
  before_last: 799,
  changes,
});

describe("the answer", () => {
  it("names the parts that grew, the largest first, causes before accounts", () => {
    const text = answerSince(
      800,
      found(
        change("step_time", 0.5, 0.7),
        change("thread_cpu", 0.5, 0.7),
        change("disk", 0, 0.02, { title: "Lost to disk" }),
        change("input_pipeline", 0, 0.18, { title: "Lost to input pipeline" }),
        change("account:input_wait", 0.01, 0.19, { title: "Input wait" }),
      ),
    );
    expect(text).toBe(
      "Yes, slower: 700.0 ms per step since step 800, 500.0 ms before (medians), 40.0% slower. " +
        "Biggest part: input pipeline, +180.0 ms per step; then disk, +20.0 ms per step.",
    );
  });

  it("names accounts where nothing is lost to a cause, else what moved", () => {
    const slower = change("step_time", 0.5, 0.7);
    const wait = change("account:input_wait", 0.01, 0.19, { title: "Input wait" });
    expect(answerSince(8, found(slower, wait))).toContain("Biggest part: input wait, +180.0 ms");
    const memory = change("rss_bytes", 0, 1024, { title: "RSS", unit: "bytes", per_step: false });
    expect(answerSince(8, found(slower, memory))).toContain(
      "No timed part of a step grew. Changed at the same time: RSS +1.00 KiB.",
    );
  });

  it("says when it is not slower, and when it was getting slower anyway", () => {
    const same = change("step_time", 0.5, 0.501, { kind: "same" });
    expect(answerSince(8, found(same))).toBe(
      "Not slower: 501.0 ms per step since step 8, 500.0 ms before (medians), within normal variation.",
    );
    expect(answerSince(8, found(change("step_time", 0.5, 0.4)))).toMatch(
      /^Not slower but faster: /,
    );
    const trend = change("step_time", 0.5, 0.6, { kind: "trend" });
    expect(answerSince(8, found(trend))).toMatch(/^Slower, and it was getting slower before: /);
    expect(answerSince(1, found())).toBe("Too few steps come before step 1 to compare with.");
  });
});
