import { describe, expect, it } from "vitest";
import { digest, judged, run } from "../../../tests/make";
import type { JudgedRun } from "../../api/wire/all_runs";
import { filtered, rowsOf } from "./filter";

const RUNS = [
  run({ run: "bert/a", steps: 5000 }),
  run({ run: "bert/b", steps: 100, live: true }),
  run({ run: "resnet/c", source: "scalars" }),
  run({ run: "resnet/d" }),
  run({ run: "resnet/healthy-one" }),
];

const FOUND = new Map<string, JudgedRun>([
  ["bert/a", judged({ hyperparameters: { learning_rate: 0.001, optimizer: "adam" } })],
  [
    "bert/b",
    judged({
      hyperparameters: { learning_rate: 0.01, optimizer: "sgd" },
      digest: digest({
        verdict: "slow_start",
        lost_fraction: 0.0996,
        cause: "warm_up",
        causes: ["warm_up", "input_pipeline"],
        step_seconds: 0.05,
      }),
    }),
  ],
  [
    "resnet/c",
    judged({
      digest: digest({
        verdict: "healthy",
        judged: "partly",
        lost_fraction: 0,
        cause: null,
        causes: [],
      }),
    }),
  ],
  ["resnet/d", judged({ digest: null, error: "It can't be read." })],
]);

const names = (filter: string): string[] =>
  filtered(rowsOf(RUNS, FOUND), filter).map((row) => row.run.run.replace(/^.*\//, ""));

describe("filtered", () => {
  it.each([
    ["", ["a", "b", "c", "d", "healthy-one"]],
    ["BERT", ["a", "b"]],
    ["bert /b", ["b"]],
    ["lost>10", ["a"]],
    ["lost>=10", ["a", "b"]],
    ["lost<10", ["c"]],
    ["lost<=10.0", ["b", "c"]],
    ["steps>1000", ["a"]],
    ["ms<60", ["b"]],
    ["since>=10", ["a", "b", "c"]],
    ["slowdown", ["a"]],
    ["healthy", ["c"]],
    ['"slow start"', ["b"]],
    ["verdict:slow_start", ["b"]],
    ['"partly judged"', ["c"]],
    ["unreadable", ["d"]],
    ["live", ["b"]],
    ["scalars", ["c"]],
    ["name:healthy", ["healthy-one"]],
    ["retracing", ["a"]],
    ["cause:retrac", ["a"]],
    ['cause:"Input pipeline"', ["b"]],
    ["cause:warm-up", ["a", "b"]],
    ["warm", ["b"]],
    ["learning_rate<0.005", ["a"]],
    ["learning_rate=0.01", ["b"]],
    ["optimizer:ad", ["a"]],
    ["optimizer=ad", []],
    ["tensorflow:2.21", ["a", "b", "c"]],
    ["lost>ten", []],
    ["nobody", []],
  ])("%s", (filter, expected) => {
    expect(names(filter)).toEqual(expected);
  });
});
