/** The columns of the table of all runs: what each is sorted by. */

import type { JudgedRun, Setting } from "../../api/wire/all_runs";
import type { Run, Verdict } from "../../api/wire/report";
import { causeKind } from "../../catalog/causes";

/** A run, and what was found in it as soon as somebody has looked. */
export interface Row {
  readonly run: Run;
  readonly found: JudgedRun | undefined;
}

export type Found = ReadonlyMap<string, JudgedRun>;

/** What a column sorts by; null comes last in either direction. */
export type Value = string | number | null;

export interface Column {
  readonly id: string;
  readonly title: string;
  readonly numeric: boolean;
  readonly value: (row: Row) => Value;
}

/** The costliest first. */
const RANK: Readonly<Record<Verdict, number>> = {
  slowdown: 0,
  slow_start: 1,
  not_enough_steps: 2,
  healthy: 3,
};

export const COLUMNS: readonly Column[] = [
  { id: "run", title: "Run", numeric: false, value: ({ run }) => run.title },
  { id: "verdict", title: "Verdict", numeric: false, value: ({ found }) => rank(found) },
  { id: "lost", title: "Lost", numeric: true, value: lostOf },
  { id: "cause", title: "First cause", numeric: false, value: causeTitle },
  {
    id: "since",
    title: "Since step",
    numeric: true,
    value: (row) => digest(row)?.since_step ?? null,
  },
  {
    id: "step",
    title: "Per step",
    numeric: true,
    value: (row) => digest(row)?.step_seconds ?? null,
  },
  { id: "pace", title: "Step time", numeric: true, value: growthOf },
  { id: "rate", title: "Throughput", numeric: true, value: rateOf },
  { id: "steps", title: "Steps", numeric: true, value: ({ run }) => run.steps },
  { id: "when", title: "Written", numeric: true, value: ({ run }) => run.reported },
];

const digest = ({ found }: Row) => found?.digest ?? undefined;

const rank = (found: JudgedRun | undefined): Value =>
  found === undefined ? null : found.digest === null ? 4 : RANK[found.digest.verdict];

/** The share that is lost, null where nobody has looked or can tell. */
export function lostOf(row: Row): number | null {
  const known = digest(row) ?? row.run;
  return known.verdict === "not_enough_steps" ? null : known.lost_fraction;
}

export function causeTitle(row: Row): string | null {
  const cause = digest(row)?.cause;
  return cause === undefined || cause === null ? null : causeKind(cause).name;
}

/** How much longer a step takes at the end than at the beginning. */
function growthOf(row: Row): number | null {
  const spark = digest(row)?.spark ?? [];
  const [first, last] = [spark[0], spark.at(-1)];
  return first === undefined || last === undefined || first <= 0 ? null : last / first;
}

/** Items a second where they were told, else steps a second. */
function rateOf(row: Row): number | null {
  const known = digest(row);
  return known?.items_per_second ?? known?.steps_per_second ?? null;
}

/** Hyperparameters, and what records tell of the environment; the former win. */
export const settingsOf = ({ found }: Row): Readonly<Record<string, Setting>> => ({
  ...found?.digest?.settings,
  ...found?.hyperparameters,
});

const settingOf = ({ found }: Row, name: string): Setting | undefined =>
  found?.hyperparameters[name] ?? found?.digest?.settings[name];

const MOST_SETTINGS = 8;

/** Keeps the value of each setting, undefined as soon as there are two. */
function note(
  into: Map<string, Setting | undefined>,
  of: Readonly<Record<string, Setting>> = {},
): void {
  for (const name in of) {
    const value = of[name];
    const only = into.get(name);
    if (!into.has(name)) into.set(name, value);
    else if (only !== value && String(only) !== String(value)) into.set(name, undefined);
  }
}

/** A column for each setting that differs between runs: hyperparameters first. */
export function settingColumns(rows: readonly Row[]): Column[] {
  const logged = new Map<string, Setting | undefined>();
  const told = new Map<string, Setting | undefined>();
  for (const { found } of rows) {
    note(logged, found?.hyperparameters);
    note(told, found?.digest?.settings);
  }
  const differing = [...logged, ...[...told].filter(([name]) => !logged.has(name))].filter(
    ([, only]) => only === undefined,
  );
  return differing.slice(0, MOST_SETTINGS).map(([name]) => ({
    id: `set:${name}`,
    title: name.replaceAll("_", " "),
    numeric: rows.every((row) => typeof (settingOf(row, name) ?? 0) === "number"),
    value: (row: Row): Value => {
      const value = settingOf(row, name);
      return value === undefined ? null : typeof value === "number" ? value : String(value);
    },
  }));
}

export interface Order {
  readonly by: string;
  readonly descending: boolean;
}

export const NEWEST: Order = { by: "when", descending: true };

/** Rows in the order of a column; equal ones the newest first. */
export function sorted(rows: readonly Row[], columns: readonly Column[], order: Order): Row[] {
  const column = [...columns, ...COLUMNS].find((one) => one.id === order.by);
  const sign = order.descending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: column?.value(row) ?? null }));
  keyed.sort((a, b) => {
    const newer = (b.row.run.reported ?? 0) - (a.row.run.reported ?? 0);
    if (a.key === null || b.key === null) {
      return a.key === b.key ? newer : a.key === null ? 1 : -1;
    }
    if (a.key === b.key) return newer;
    return typeof a.key === "number" && typeof b.key === "number"
      ? sign * (a.key - b.key)
      : sign * COLLATOR.compare(String(a.key), String(b.key));
  });
  return keyed.map(({ row }) => row);
}

/** "run10" comes after "run9". */
const COLLATOR = new Intl.Collator("en", { numeric: true });
