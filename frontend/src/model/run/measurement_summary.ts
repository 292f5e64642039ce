/** What a healthy verdict rests on: each cause, and whether its signals were measured. */

import type { RunReport, SignalState } from "../../api/wire/report";
import type { Timeline } from "../../api/wire/timeline";
import { duration, percent } from "../../base/format";
import { CAUSES, sentence } from "../../catalog/causes";
import { seenBy } from "../../catalog/collectors";
import { found } from "./found";
import { lostByCause } from "./ledger";

export interface Check {
  readonly id: string;
  /** At least one of the signals behind it was measured. */
  readonly seen: boolean;
  readonly text: string;
}

/** Causes that need step times alone are always seen. */
export function checks(report: RunReport, timeline?: Timeline): Check[] {
  const lost = lostByCause(report);
  // More work, and what nobody explains, are no causes.
  return CAUSES.filter((cause) => cause.family !== "neutral").map(({ id }) => {
    const seconds = lost.get(id);
    if (seconds !== undefined) {
      const text = `${duration(seconds)}, ${percent(seconds / report.wall_seconds)}`;
      return { id, seen: true, text };
    }
    const names = seenBy(id);
    if (names === undefined) return { id, seen: true, text: "level" };
    const states = report.signals.filter((state) => names.includes(state.signal));
    const seen = states.some(isSeen);
    const text = (timeline && found(id, timeline)) ?? "measured";
    return { id, seen, text: seen ? text : reasonOf(states) };
  });
}

export const isChecked = (report: RunReport, id: string): boolean =>
  checks(report).some((check) => check.id === id && check.seen);

const isSeen = (state: SignalState): boolean =>
  state.status === "measured" || state.status === "partly";

function reasonOf(states: readonly SignalState[]): string {
  const [first] = states;
  return first === undefined || first.reason === "" ? "not measured" : sentence(first.reason);
}

export function tally(list: readonly Check[]): { measured: number; blind: number } {
  const measured = list.filter((check) => check.seen).length;
  return { measured, blind: list.length - measured };
}

const WHY: Readonly<Record<SignalState["status"], string>> = {
  measured: "",
  partly: "in part",
  unavailable: "unavailable here",
  off: "switched off",
  failed: "the collector failed",
};

/** A collector that failed or was switched off says so before its reason. */
export function whyNot({ status, reason }: SignalState): string {
  if (reason === "") return WHY[status];
  return status === "failed" || status === "off" ? `${WHY[status]}: ${reason}` : reason;
}
