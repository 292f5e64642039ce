import { describe, expect, it } from "vitest";
import { report, run } from "../../../tests/make";
import { filtered, verdictText } from "./run_list";

describe("filtered", () => {
  const runs = [run({ run: "vit/a", reported: 1 }), run({ run: "vit/b", reported: 2, live: true })];

  it("needs every word, newest first", () => {
    const names = (filter: string): string[] =>
      filtered(runs, filter, new Map()).map((one) => one.run);
    expect(names("")).toEqual(["vit/b", "vit/a"]);
    expect(names("VIT a")).toEqual(["vit/a"]);
    expect(names("live")).toEqual(["vit/b"]);
    expect(names("resnet")).toEqual([]);
    expect(filtered([run({ run: ".", title: "logs" })], "logs", new Map()).length).toBe(1);
  });

  it("filters by result, and never by a result that is not known", () => {
    const reports = new Map([["vit/a", report({ lost_fraction: 0.31 })]]);
    const names = (filter: string): string[] =>
      filtered(runs, filter, reports).map((one) => one.run);
    expect(names("lost>10")).toEqual(["vit/a"]);
    expect(names("lost>31.5")).toEqual([]);
    expect(names("cause:retrac")).toEqual(["vit/a"]);
    expect(names("cause:disk")).toEqual([]);
  });

  it("says the verdict, and a dash before it is known", () => {
    expect(verdictText(run({ live: true }), report())).toBe("● slowdown · live");
    expect(verdictText(run(), report({ verdict: "healthy", judged: "partly" }))).toBe(
      "○ healthy, partly judged",
    );
    expect(verdictText(run(), undefined)).toBe("–");
    const drawn = run({ source: "scalars" });
    expect(verdictText(drawn, report({ judged: "partly" }))).toBe("● slowdown · from scalars");
    expect(verdictText(drawn, undefined)).toBe("– · from scalars");
    expect(verdictText(run(), new Error("x"))).toBe("unreadable");
  });
});
