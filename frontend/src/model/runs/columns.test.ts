import { describe, expect, it } from "vitest";
import { digest, judged, run } from "../../../tests/make";
import { COLUMNS, NEWEST, type Row, settingColumns, settingsOf, sorted } from "./columns";
import { commonPath, grouped, hasExperiments, middle } from "./groups";
import { verdictText } from "./verdict_text";

const row = (name: string, reported: number, values = {}, of = {}): Row => ({
  run: run({ run: name, reported }),
  found: judged({ run: name, digest: digest(values), ...of }),
});
const unjudged = (name: string, reported: number): Row => ({
  run: run({ run: name, reported }),
  found: undefined,
});
const names = (rows: readonly Row[]): string[] => rows.map((one) => one.run.run);

describe("sorted", () => {
  const rows = [
    row("x/run10", 1, { lost_fraction: 0.2, verdict: "slow_start" }),
    unjudged("x/new", 9),
    row("x/run9", 2, { lost_fraction: 0.2 }),
    row("y/none", 3, { verdict: "not_enough_steps", lost_fraction: 0 }),
    row("y/most", 4, { lost_fraction: 0.9 }),
  ];
  const by = (id: string, descending: boolean): string[] =>
    names(sorted(rows, COLUMNS, { by: id, descending }));

  it("puts what is not known last, in both directions, and equal ones by age", () => {
    expect(by("lost", true)).toEqual(["y/most", "x/run9", "x/run10", "x/new", "y/none"]);
    expect(by("lost", false)).toEqual(["x/run9", "x/run10", "y/most", "x/new", "y/none"]);
  });

  it("reads numbers in names, and knows which verdict is worse", () => {
    expect(by("run", false)).toEqual(["x/new", "x/run9", "x/run10", "y/most", "y/none"]);
    expect(by("verdict", false)).toEqual(["y/most", "x/run9", "x/run10", "y/none", "x/new"]);
    expect(names(sorted(rows, COLUMNS, NEWEST))[0]).toBe("x/new");
  });
});

describe("columns of settings", () => {
  it("are those that differ; hyperparameters come first and win", () => {
    const rows = [
      row(
        "a",
        1,
        { settings: { tensorflow: "2.20", python: "3.11", rate: 7 } },
        { hyperparameters: { rate: 0.1 } },
      ),
      row(
        "b",
        2,
        { settings: { tensorflow: "2.21", python: "3.11" } },
        { hyperparameters: { rate: 0.2 } },
      ),
    ];
    const columns = settingColumns(rows);
    expect(columns.map((one) => [one.id, one.numeric])).toEqual([
      ["set:rate", true],
      ["set:tensorflow", false],
    ]);
    expect(columns[0]?.value(rows[0] as Row)).toBe(0.1);
    expect(settingsOf(rows[0] as Row)).toMatchObject({ rate: 0.1, python: "3.11" });
  });
});

describe("groups", () => {
  const rows = [
    row("b/1", 1),
    row("a/1", 2, { verdict: "healthy", lost_fraction: 0.01 }),
    row("b/2", 3, { lost_fraction: 0.7 }),
    row("a/2", 4),
  ];

  it("come in the order of their first row, with their worst", () => {
    expect(grouped(rows).map((one) => [one.name, one.rows.length, one.slow, one.worst])).toEqual([
      ["b", 2, 2, 0.7],
      ["a", 2, 1, 0.4],
    ]);
  });

  it("are shown where several hold several runs", () => {
    expect(hasExperiments(rows)).toBe(true);
    expect(hasExperiments(rows.slice(0, 2))).toBe(false);
    expect(hasExperiments([row("a", 1), row("b", 2)])).toBe(false);
  });
});

it("tells once what all names of a group begin with", () => {
  expect(commonPath(["a/b/c1", "a/b/c2"])).toBe("a/b/");
  expect(commonPath(["a/b/c1", "a/bc/c2"])).toBe("a/");
  expect(commonPath(["a/b"])).toBe("a/");
  expect(commonPath(["a", "b"])).toBe("");
});

it("cuts long names in the middle", () => {
  expect(middle("bert/lr3e-4-seed7", 20)).toBe("bert/lr3e-4-seed7");
  expect(middle("bert-base/lr-sweep/lr3e-4-bs8-seed17", 21)).toBe("bert-base/…bs8-seed17");
});

describe("verdictText", () => {
  it("says the verdict, and a dash before it is known", () => {
    expect(verdictText(row("a", 1))).toBe("● slowdown");
    expect(verdictText(row("a", 1, { verdict: "healthy", judged: "partly" }))).toBe(
      "○ healthy, partly judged",
    );
    expect(verdictText(unjudged("a", 1))).toBe("–");
    const drawn = run({ source: "scalars", live: true });
    expect(
      verdictText({ run: drawn, found: judged({ digest: digest({ judged: "partly" }) }) }),
    ).toBe("● slowdown · from scalars · live");
    expect(verdictText({ run: run(), found: judged({ digest: null }) })).toBe("unreadable");
    expect(verdictText({ run: run({ verdict: "healthy" }), found: undefined })).toBe("○ healthy");
  });
});
