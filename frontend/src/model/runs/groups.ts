/** Runs by experiment: the first part of their path. */

import { lostOf, type Row } from "./columns";

export interface Group {
  /** "" for runs without a path. */
  readonly name: string;
  readonly rows: readonly Row[];
  /** The path that all names of the group begin with, "bert/sweep/"; told once. */
  readonly path: string;
  /** Runs with a slowdown, and the largest share that one of them has lost. */
  readonly slow: number;
  readonly worst: number | null;
}

export const experimentOf = (title: string): string =>
  title.includes("/") ? (title.split("/")[0] ?? "") : "";

/** Groups in the order in which their first row comes. */
export function grouped(rows: readonly Row[]): Group[] {
  const byName = new Map<string, Row[]>();
  for (const row of rows) {
    const name = experimentOf(row.run.title);
    const group = byName.get(name);
    if (group === undefined) byName.set(name, [row]);
    else group.push(row);
  }
  return [...byName].map(([name, of]) => {
    const lost = of.map(lostOf).filter((one) => one !== null);
    return {
      name,
      rows: of,
      path: name === "" ? "" : commonPath(of.map(({ run }) => run.title)),
      slow: of.filter(({ found }) => found?.digest?.verdict === "slowdown").length,
      worst: lost.length === 0 ? null : Math.max(...lost),
    };
  });
}

/** The longest path, with the slash at its end, that all names begin with. */
export function commonPath(names: readonly string[]): string {
  const [first = "", ...others] = names;
  let end = first.lastIndexOf("/") + 1;
  while (end > 0 && !others.every((name) => name.startsWith(first.slice(0, end)))) {
    end = first.lastIndexOf("/", end - 2) + 1;
  }
  return first.slice(0, end);
}

/** Whether groups help: there are several, and most hold several runs. */
export function hasExperiments(rows: readonly Row[]): boolean {
  const names = new Set(rows.map(({ run }) => experimentOf(run.title)));
  return names.size > 1 && 2 * names.size <= rows.length;
}

/** A long name without its middle: runs differ at the end. */
export function middle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.floor((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}
