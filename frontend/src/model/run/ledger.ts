/** The ledger of a run as terms of a sum, and as segments of one bar. */

import type { RunReport } from "../../api/wire/report";
import { percent } from "../../base/format";
import { CONFIRMING, causeKind, HEALTHY, UNEXPLAINED } from "../../catalog/causes";

export interface Term {
  /** "healthy" or a cause id. */
  readonly id: string;
  readonly code: string;
  readonly name: string;
  readonly seconds: number;
  /** Of the wall time. */
  readonly share: number;
}

/** `wall = healthy + causes by rank + being confirmed + unexplained`; terms without a millisecond are left out. */
export function terms(report: RunReport): Term[] {
  const wall = report.wall_seconds;
  const share = (seconds: number): number => (wall > 0 ? seconds / wall : 0);
  const lost = report.causes.map((cause) => cause.lost_seconds);
  const named = lost.reduce((sum, seconds) => sum + seconds, 0);
  const confirming = report.confirming?.seconds ?? 0;
  const healthy = Math.max(0, wall - named - report.unexplained_seconds);
  const term = (id: string, seconds: number): Term => {
    const { code, name } = causeKind(id);
    return { id, code, name, seconds, share: share(seconds) };
  };
  return [
    { id: HEALTHY, code: "", name: nameOfRest(report), seconds: healthy, share: share(healthy) },
    ...[...lostByCause(report)].map(([cause, seconds]) => term(cause, seconds)),
    term(CONFIRMING, confirming),
    term(UNEXPLAINED, Math.max(0, report.unexplained_seconds - confirming)),
  ].filter((entry) => entry.id === HEALTHY || entry.seconds >= 0.0005);
}

/** Seconds of each cause, of all its cards; in their order. */
export function lostByCause(report: RunReport): Map<string, number> {
  const lost = new Map<string, number>();
  for (const { cause, lost_seconds } of report.causes) {
    lost.set(cause, (lost.get(cause) ?? 0) + lost_seconds);
  }
  return lost;
}

/** Without a baseline nobody knows whether the rest is healthy. */
const nameOfRest = (report: RunReport): string =>
  report.judged === "partly"
    ? "Partly judged"
    : report.verdict === "not_enough_steps"
      ? "Not judged yet"
      : "Healthy";

export interface Segment {
  readonly term: Term;
  readonly widthPixels: number;
  /** What fits into the width, at most. */
  readonly label: "full" | "name" | "word" | "code";
}

const GAP_PIXELS = 2;
/** The least size of a target by WCAG 2.2. */
const LEAST_PIXELS = 24;
const PADDING_PIXELS = 16;
/** Between the name and its share. */
const SPACE_PIXELS = 6;

/** CSS pixels of a text in a segment: names are bold, shares are not. */
export type TextWidth = (text: string, weight: 400 | 600) => number;

/** Widths true to seconds, each at least 24 px, what that takes is taken from Healthy. */
export function segments(
  ledger: readonly Term[],
  barPixels: number,
  textWidth: TextWidth,
): Segment[] {
  const room = Math.max(0, barPixels - GAP_PIXELS * (ledger.length - 1));
  const wanted = ledger.map((term) => Math.max(LEAST_PIXELS, term.share * room));
  let surplus = wanted.reduce((sum, width) => sum + width, 0) - room;
  // Healthy time gives way first, then whatever is widest: the bar never runs out of its row.
  const healthy = ledger.findIndex((term) => term.id === HEALTHY);
  for (const index of [healthy, wanted.indexOf(Math.max(...wanted))]) {
    const width = wanted[index];
    if (width === undefined) continue;
    wanted[index] =
      index === healthy && surplus < 0
        ? width - surplus
        : Math.max(LEAST_PIXELS, width - Math.max(0, surplus));
    surplus -= width - (wanted[index] as number);
  }
  return ledger.map((term, index) => {
    const widthPixels = wanted[index] as number;
    return { term, widthPixels, label: fitting(term, widthPixels, textWidth) };
  });
}

/** "Input" for "Input pipeline". */
export const firstWord = (name: string): string => name.split(" ")[0] ?? name;

function fitting(term: Term, width: number, textWidth: TextWidth): Segment["label"] {
  const room = width - PADDING_PIXELS;
  const name = textWidth(term.name, 600);
  if (room >= name + SPACE_PIXELS + textWidth(percent(term.share), 400)) return "full";
  if (room >= name) return "name";
  return room >= textWidth(firstWord(term.name), 600) ? "word" : "code";
}
