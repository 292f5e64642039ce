import { describe, expect, it } from "vitest";
import { cause, report, timeline } from "../../../tests/make";
import { trackOf } from "../timeline/track";
import { cards, densest, openAtFirst, rhythm, sparable, sparkline, windowOf } from "./cards";

describe("cards", () => {
  it("come in the report's order, then what nothing explains", () => {
    const list = cards(
      report({ suspects: [{ cause: "cpu_contention", seconds: 3, why: "it moves" }] }),
    );
    expect(list.map((card) => card.id)).toEqual(["retracing", "garbage_collection", "unexplained"]);
    expect(list[2]?.evidence).toEqual(["Suspect for 3 s: CPU contention; it moves"]);
    expect(list[2]?.bars).toBe(0);
  });

  it("have none for an unexplained rest below the floor", () => {
    expect(cards(report({ unexplained_seconds: 0.4 })).map((card) => card.id)).not.toContain(
      "unexplained",
    );
  });

  it("begin their evidence with what was tried", () => {
    const confirmed = {
      experiment: "xla",
      text: "confirmed: 2 times faster (1.9 to 2.1) with xla",
    };
    const list = cards(report({ causes: [cause({ confirmed, evidence: ["Timed."] }), cause({})] }));
    expect(list[0]?.evidence).toEqual([
      "Confirmed: 2 times faster (1.9 to 2.1) with xla.",
      "Timed.",
    ]);
    expect(list[1]?.evidence).toEqual(cause({}).evidence);
  });

  it("open from 5% of the run on, at least the first, the unexplained only as the first", () => {
    const small = { lost_fraction: 0.01 };
    expect(openAtFirst(cards(report()))).toEqual(["retracing", "garbage_collection"]);
    const two = report({
      causes: [cause(small), cause({ ...small, cause: "disk" })],
      unexplained_seconds: 20,
    });
    expect(openAtFirst(cards(two))).toEqual(["retracing"]);
  });

  it("begin with the unexplained where it is most, with its step", () => {
    const steps = [66, 99] as const;
    const unexplained = { pattern: "level_shift", steps, text: "Since step 66 ..." } as const;
    const list = cards(report({ unexplained_seconds: 50, unexplained }));
    expect(list[0]).toMatchObject({ id: "unexplained", steps, summary: "Since step 66 ..." });
    expect(openAtFirst(list)[0]).toBe("unexplained");
  });

  it("say what moved with the unexplained, what did not, and what to do next", () => {
    const advice = {
      text: "Mark the parts.",
      code: "",
      price: "",
      where: "",
      kind: "example" as const,
    };
    const investigation = {
      moved: ["Host memory: 1 GiB before, 3 GiB here; jumps at step 66."],
      unmoved: ["Input wait", "Garbage collection"],
      advice: [advice],
    } as const;
    const [card] = cards(report({ unexplained_seconds: 50, investigation }));
    expect(card?.evidence).toEqual([
      "Changed there. Host memory: 1 GiB before, 3 GiB here; jumps at step 66.",
      "Measured, and did not change there: Input wait; Garbage collection.",
    ]);
    expect(card?.advice).toEqual([advice]);
  });

  it("are found apart where two are of one cause, whose seconds over the run are of both", () => {
    const causes = [cause(), cause({ rank: 2, lost_seconds: 9 }), cause({ cause: "disk" })];
    const list = cards(report({ causes, unexplained_seconds: 0 }));
    expect(list.map(({ id, isOnly }) => [id, isOnly])).toEqual([
      ["retracing", false],
      ["disk", true],
      ["retracing:2", false],
    ]);
  });

  it("promise back only what was timed directly, and not the start of the run", () => {
    const timed = cause();
    const causes = [
      timed,
      cause({ confidence: "medium", lost_seconds: 9 }),
      cause({ cause: "warm_up", pattern: "warm_up" }),
      cause({ cause: "cpu_contention", external: true }),
    ];
    expect(sparable(report({ causes }))).toEqual([timed]);
  });

  it("know their rows and say when they begin", () => {
    const track = trackOf(timeline(100, 1));
    const [card] = cards(report());
    expect(card && windowOf(card, track)).toEqual({ from: 10, to: 100 });
    expect(card && rhythm(card, track)).toBe("10.0 s in, growing");
    expect(card && rhythm({ ...card, pattern: "warm_up", steps: [0, 9] }, track)).toBe(
      "until step 9",
    );
    expect(card && rhythm({ ...card, pattern: "periodic" }, track)).toBe("every few steps");
    expect(card && rhythm({ ...card, pattern: "flat" }, track)).toBe("throughout");
    const quick = trackOf({
      ...timeline(100, 1),
      time: Array.from({ length: 100 }, (_, i) => i / 100),
    });
    expect(card && rhythm({ ...card, steps: [2, 99] }, quick)).toBe("from the start, growing");
    expect(card && rhythm({ ...card, steps: [50, 99] }, quick)).toMatch(/ s in, growing$/);
  });
});

describe("densest", () => {
  it("is the stretch that holds most above the mean", () => {
    const lost = { unexplained: [0, 1, 0, 3, 3, 0, 0, 0, 1, 0] };
    expect(densest(timeline(100, 10, { lost }), "unexplained")).toEqual({
      first: 30,
      last: 49,
      seconds: 60,
    });
    expect(densest(timeline(100, 10), "unexplained")).toBeUndefined();
    const even = timeline(100, 10, { lost: { unexplained: Array(10).fill(2) } });
    expect(densest(even, "unexplained")).toBeUndefined();
  });
});

describe("sparkline", () => {
  it("adds up buckets, as many to each bar", () => {
    const data = timeline(40, 20, { lost: { retracing: [1, 2] } });
    expect(sparkline(data, "retracing", 4)).toEqual([20, 40]);
    expect(sparkline(data, "retracing", 1)).toEqual([60]);
    expect(sparkline(data, "disk", 2)).toEqual([0, 0]);
  });

  it("has one bar, of the same height, for each of several equal saves", () => {
    const saves = Array.from({ length: 400 }, (_, bucket) => (bucket % 33 === 32 ? 4 : 0));
    const bars = sparkline(
      timeline(1200, 3, { lost: { checkpointing: saves } }),
      "checkpointing",
      62,
    );
    expect(bars.filter((bar) => bar > 0)).toEqual(new Array(12).fill(12));
  });
});
