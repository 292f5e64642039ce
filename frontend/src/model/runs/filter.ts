/** Which runs a filter means: words of the name, verdicts and causes as shown, and comparisons. */

import type { Run, Verdict } from "../../api/wire/report";
import { causeKind } from "../../catalog/causes";
import { causeTitle, type Found, lostOf, type Row, settingsOf } from "./columns";

export const rowsOf = (runs: readonly Run[], found: Found): Row[] =>
  runs.map((run) => ({ run, found: found.get(run.run) }));

type Test = (row: Row) => boolean;

/**
 * The rows that every part of the filter holds for. What is not known of a run yet does not match.
 *
 * `bert lost>=10 cause:"input pipeline" lr<0.01 live`: see the hint below the field.
 */
export function filtered(rows: readonly Row[], filter: string): Row[] {
  const tests = parts(filter.toLowerCase()).map(testOf);
  return rows.filter((row) => tests.every((test) => test(row)));
}

/** Split at spaces, except between quotation marks, which are left out. */
const parts = (filter: string): string[] =>
  (filter.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map((part) => part.replaceAll('"', ""));

const COMPARED = /^([\w./-]+)(>=|<=|>|<|=|:)(.+)$/;

const plain = (text: string): string => text.replace(/[\s_-]+/g, " ").trim();

const hasVerdict =
  (verdict: Verdict): Test =>
  ({ found }) =>
    found?.digest?.verdict === verdict;

/** Words that stand for a result or a kind of run, not for a part of a name. */
const WORDS: Readonly<Record<string, Test>> = {
  slowdown: hasVerdict("slowdown"),
  healthy: hasVerdict("healthy"),
  "slow start": hasVerdict("slow_start"),
  "too few steps": hasVerdict("not_enough_steps"),
  "partly judged": ({ found }) => found?.digest?.judged === "partly",
  unreadable: ({ found }) => found?.digest === null,
  live: ({ run }) => run.live,
  scalars: ({ run }) => run.source === "scalars",
};

function testOf(part: string): Test {
  const compared = COMPARED.exec(part);
  if (compared !== null) {
    const [, key = "", sign = "", value = ""] = compared;
    const test = comparison(key, sign, value, part);
    if (test !== undefined) return test;
  }
  const word = WORDS[plain(part)];
  if (word !== undefined) return word;
  return (row) =>
    row.run.title.toLowerCase().includes(part) ||
    plain(causeTitle(row) ?? "")
      .toLowerCase()
      .includes(plain(part));
}

/** What can be compared with a number, as the table shows it. */
const NUMBERS: Readonly<Record<string, (row: Row) => number | null | undefined>> = {
  lost: (row) => percent(lostOf(row)),
  ms: ({ found }) => thousand(found?.digest?.step_seconds),
  since: ({ found }) => found?.digest?.since_step,
  rate: ({ found }) => found?.digest?.items_per_second ?? found?.digest?.steps_per_second,
  steps: ({ run }) => run.steps,
  workers: ({ run }) => run.workers,
};

/** As shown: one digit after the point. */
const percent = (share: number | null): number | null =>
  share === null ? null : Math.round(1000 * share) / 10;

const thousand = (seconds: number | null | undefined): number | null =>
  seconds === null || seconds === undefined ? null : 1000 * seconds;

function comparison(key: string, sign: string, value: string, part: string): Test | undefined {
  const isText = sign === ":" || sign === "=";
  if (isText && key === "name") return ({ run }) => run.title.toLowerCase().includes(value);
  if (isText && key === "verdict") return WORDS[plain(value)] ?? (() => false);
  if (isText && key === "cause")
    return ({ found }) => found?.digest?.causes.some((id) => isCause(id, value)) ?? false;
  const number = Number(value);
  const known = NUMBERS[key];
  if (known !== undefined) {
    return Number.isNaN(number) ? undefined : (row) => compare(known(row), sign, number);
  }
  return (row) => {
    const setting = Object.entries(settingsOf(row)).find(
      ([name]) => name.toLowerCase() === key,
    )?.[1];
    if (setting === undefined) return row.run.title.toLowerCase().includes(part);
    if (typeof setting === "number" && !Number.isNaN(number)) return compare(setting, sign, number);
    const text = String(setting).toLowerCase();
    return sign === ":" ? text.includes(value) : sign === "=" && text === value;
  };
}

const isCause = (id: string, value: string): boolean =>
  plain(id).includes(plain(value)) ||
  plain(causeKind(id).name).toLowerCase().includes(plain(value));

function compare(known: number | null | undefined, sign: string, number: number): boolean {
  if (known === null || known === undefined) return false;
  switch (sign) {
    case ">":
      return known > number;
    case ">=":
      return known >= number;
    case "<":
      return known < number;
    case "<=":
      return known <= number;
    default:
      return known === number;
  }
}
