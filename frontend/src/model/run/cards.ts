/** Cause cards: one per defect of the report, and one for what nothing explains. */

import type {
  Advice,
  Cause,
  Confidence,
  Confirming,
  OwnLines,
  Pattern,
  RunReport,
} from "../../api/wire/report";
import type { Timeline } from "../../api/wire/timeline";
import { count, duration } from "../../base/format";
import { CONFIRMING, causeKind, nameInText, UNEXPLAINED } from "../../catalog/causes";
import { rowOfStep, type Track, timeOfRow } from "../timeline/track";
import { between, type Window } from "../timeline/window";

export interface Card {
  /** The cause, with its rank from the second of the same id on: "callbacks:2". */
  readonly id: string;
  readonly cause: string;
  /** The only one of its cause: the timeline's seconds are its own. */
  readonly isOnly?: boolean;
  readonly name: string;
  readonly code: string;
  readonly summary: string;
  readonly lostSeconds: number;
  readonly share: number;
  readonly evidence: readonly string[];
  readonly advice: readonly Advice[];
  readonly source?: OwnLines | null | undefined;
  /** Filled bars of three, and the words beside them. */
  readonly bars: 0 | 1 | 2 | 3;
  readonly confidence: string;
  readonly confidenceMeaning: string;
  readonly steps: readonly [number, number] | undefined;
  readonly pattern: Pattern | undefined;
}

/** Of the run: above it a card is open when the page opens (the first always is). */
const OPEN_SHARE = 0.05;
/** Of the run: below it the unexplained rest gets no card of its own, and no word. */
export const UNEXPLAINED_SHARE = 0.005;

const BARS: Readonly<Record<Confidence, 1 | 2 | 3>> = { low: 1, medium: 2, high: 3 };
const CONFIDENCE: Readonly<Record<Confidence, readonly [string, string]>> = {
  high: ["High: timed", "This time was measured directly."],
  medium: ["Medium: matches", "A measured state or counter matches the slow steps."],
  low: ["Low: grew too", "Something grew at the same time; that alone proves nothing."],
};

export function cards(report: RunReport): Card[] {
  const wall = report.wall_seconds;
  const { confirming } = report;
  const open = confirming ? [confirmingCard(report, confirming)] : [];
  // As in the sum: the largest first.
  const named = [...report.causes.map((cause) => cardOf(cause, report)), ...open].sort(
    (a, b) => b.lostSeconds - a.lostSeconds,
  );
  const seconds = Math.max(0, report.unexplained_seconds - (confirming?.seconds ?? 0));
  const share = wall > 0 ? seconds / wall : 0;
  if (share < UNEXPLAINED_SHARE && report.suspects.length === 0) return named;
  const rest = unexplainedCard(report, seconds, share);
  const isLargest = named.every((card) => card.lostSeconds < rest.lostSeconds);
  return isLargest ? [rest, ...named] : [...named, rest];
}

function confirmingCard(report: RunReport, confirming: Confirming): Card {
  const { name, code } = causeKind(CONFIRMING);
  const last = report.as_of?.step ?? confirming.since_step;
  return {
    id: CONFIRMING,
    cause: CONFIRMING,
    name,
    code,
    summary: confirming.text,
    lostSeconds: confirming.seconds,
    share: report.wall_seconds > 0 ? confirming.seconds / report.wall_seconds : 0,
    evidence: [
      confirming.candidate === null
        ? "No cause fits these seconds yet."
        : `They match the cause ${causeKind(confirming.candidate).name}, which is being confirmed.`,
      `Confirmed or withdrawn by about step ${count(confirming.decided_step)}.`,
    ],
    advice: [],
    bars: 0,
    confidence: "Being confirmed",
    confidenceMeaning: "This time is lost; its cause is being confirmed.",
    steps: [confirming.since_step, last],
    pattern: "level_shift",
  };
}

/** What `tbslow try` has proved or not: of all evidence the strongest. */
function tried({ confirmed }: Cause): string[] {
  if (!confirmed) return [];
  return [`${confirmed.text.slice(0, 1).toUpperCase()}${confirmed.text.slice(1)}.`];
}

/** What a cause's card is found by. */
export const cardId = ({ cause, rank = 1 }: Pick<Cause, "cause" | "rank">): string =>
  rank > 1 ? `${cause}:${rank}` : cause;

/** Whether no other defect of a run has the same cause. */
export const isOnly = (cause: Cause, report: RunReport): boolean =>
  report.causes.every((other) => other === cause || other.cause !== cause.cause);

function cardOf(cause: Cause, report: RunReport): Card {
  const { name, code } = causeKind(cause.cause);
  const [confidence, confidenceMeaning] = CONFIDENCE[cause.confidence];
  return {
    id: cardId(cause),
    cause: cause.cause,
    isOnly: isOnly(cause, report),
    name,
    code,
    summary: cause.summary,
    lostSeconds: cause.lost_seconds,
    share: cause.lost_fraction,
    evidence: [...tried(cause), ...cause.evidence],
    advice: cause.advice,
    source: cause.source,
    bars: BARS[cause.confidence],
    confidence,
    confidenceMeaning,
    steps: cause.steps,
    pattern: cause.pattern,
  };
}

function unexplainedCard(report: RunReport, seconds: number, share: number): Card {
  const { name, code } = causeKind(UNEXPLAINED);
  return {
    id: UNEXPLAINED,
    cause: UNEXPLAINED,
    name,
    code,
    summary: report.unexplained?.text ?? "No measured signal accounts for these seconds.",
    lostSeconds: seconds,
    share,
    evidence: [
      ...(report.investigation?.moved ?? []).map((text) => `Changed there. ${text}`),
      ...unmoved(report.investigation?.unmoved ?? []),
      ...report.suspects.map(
        (suspect) =>
          `Suspect for ${duration(suspect.seconds)}: ${nameInText(suspect.cause)}; ${suspect.why}`,
      ),
    ],
    advice: report.investigation?.advice ?? [],
    bars: 0,
    confidence: "Cause unknown",
    confidenceMeaning: "Suspects changed at the same time; no time is charged to them.",
    steps: report.unexplained?.steps,
    pattern: report.unexplained?.pattern,
  };
}

/** What was measured and is not it. */
const unmoved = (titles: readonly string[]): string[] =>
  titles.length === 0 ? [] : [`Measured, and did not change there: ${titles.join("; ")}.`];

/** Cards that are open before the reader touches any. */
export function openAtFirst(list: readonly Card[]): string[] {
  return list
    .filter((card, index) => index === 0 || (card.share >= OPEN_SHARE && card.id !== UNEXPLAINED))
    .map((card) => card.id);
}

/** The rows a card is about, for "Show steps". */
export function windowOf(card: Card, track: Track): Window | undefined {
  if (card.steps === undefined) return undefined;
  const [first, last] = card.steps;
  return between(rowOfStep(track, first), rowOfStep(track, last));
}

/** Patterns that words describe better than the moment at which they begin; as in the text report. */
const RHYTHM: Readonly<Partial<Record<Pattern, string>>> = {
  flat: "throughout",
  periodic: "every few steps",
  epoch_boundary: "at each epoch start",
  one_off: "once",
};

/** Of the run: what begins earlier was there from the start. */
const AT_START = 0.02;

/** How the seconds lie in time, in a few words: "until step 1,239", "16 min 36 s in". */
export function rhythm(card: Card, track: Track | undefined): string {
  if (card.pattern === undefined || card.steps === undefined) return "";
  if (card.pattern === "warm_up") return `until step ${count(card.steps[1])}`;
  const words = RHYTHM[card.pattern];
  if (words !== undefined) return words;
  if (track === undefined) return "";
  const row = rowOfStep(track, card.steps[0]) - (track.rows[0] ?? 0);
  const begin = timeOfRow(track, row) - (track.times[0] ?? 0);
  const early = row <= AT_START * (track.rows.at(-1) ?? 0);
  const where = early ? "from the start" : `${duration(begin)} in`;
  return card.pattern === "drift" ? `${where}, growing` : where;
}

/** Seconds lost over the run, in at most so many bars of as many buckets each: none is shared out. */
export function sparkline(timeline: Timeline, cause: string, most: number): number[] {
  const each = Math.max(1, Math.ceil(timeline.row.length / most));
  const bars = new Array<number>(Math.ceil(timeline.row.length / each)).fill(0);
  timeline.lost[cause]?.forEach((seconds, index) => {
    const bar = Math.floor(index / each);
    bars[bar] = (bars[bar] ?? 0) + (seconds ?? 0) * (timeline.count[index] ?? 1);
  });
  return bars;
}

export interface Stretch {
  /** Rows, inclusive. */
  readonly first: number;
  readonly last: number;
  readonly seconds: number;
}

/** Where a cause's seconds lie densest: the rows that hold most above the run's mean. */
export function densest(timeline: Timeline, cause: string): Stretch | undefined {
  const seconds = (timeline.lost[cause] ?? []).map(
    (mean, index) => (mean ?? 0) * (timeline.count[index] ?? 1),
  );
  const usual = seconds.reduce((sum, one) => sum + one, 0) / Math.max(1, seconds.length);
  let best = 0;
  let [first, last, begin, sum] = [-1, -1, 0, 0];
  seconds.forEach((one, index) => {
    if (sum <= 0) [begin, sum] = [index, 0];
    sum += one - usual;
    if (sum > best) [best, first, last] = [sum, begin, index];
  });
  if (first < 0) return undefined;
  const end = (timeline.row[last] ?? 0) + (timeline.count[last] ?? 1) - 1;
  const total = seconds.slice(first, last + 1).reduce((all, one) => all + one, 0);
  return { first: timeline.row[first] ?? 0, last: end, seconds: total };
}

/** Causes that were timed directly, and that a change of the program spares: no run goes without its start. */
export const sparable = (report: RunReport): readonly Cause[] =>
  report.causes.filter(
    ({ pattern, confidence, external }) =>
      confidence === "high" && pattern !== "warm_up" && !external,
  );
