/** "Slower since step 800?": the answer in a sentence, from what changed there. */

import type { Change, Changed } from "../../api/wire/changed";
import { count, percent, signed, stepTime } from "../../base/format";
import { changeText } from "./changed";

/** How many parts of the growth a sentence names. */
const FEW = 2;

/** Sums of all parts of a step, which are no part of it. */
const WHOLE: readonly string[] = ["step_time", "process_cpu", "thread_cpu"];

export function answerSince(step: number, { changes }: Changed): string {
  const whole = changes.find(({ id }) => id === "step_time");
  if (whole === undefined) return `Too few steps come before step ${count(step)} to compare with.`;
  const [before, here] = [whole.before.level, whole.here.level];
  const times = `${stepTime(here)} per step since step ${count(step)}, ${stepTime(before)} before (medians)`;
  if (whole.kind === "same") return `Not slower: ${times}, within normal variation.`;
  if (here <= before) return `Not slower but faster: ${times}.`;
  const slower = `${times}, ${percent(here / before - 1)} slower`;
  const parts = grown(changes);
  const because =
    parts.length > 0 ? ` Biggest part: ${parts.map(partText).join("; then ")}.` : moved(changes);
  return whole.kind === "trend"
    ? `Slower, and it was getting slower before: ${slower}.${because}`
    : `Yes, slower: ${slower}.${because}`;
}

/** Parts of a step that take longer, the largest first: causes, or what was timed without one. */
function grown(changes: readonly Change[]): Change[] {
  const longer = changes.filter(
    ({ id, unit, per_step: perStep, kind, difference }) =>
      unit === "seconds" && perStep && kind === "changed" && difference > 0 && !WHOLE.includes(id),
  );
  const causes = longer.filter(({ id }) => !id.includes(":") && !id.endsWith("_seconds"));
  return (causes.length > 0 ? causes : longer)
    .sort((a, b) => b.difference - a.difference)
    .slice(0, FEW);
}

const partText = ({ title, difference }: Change): string => {
  const name = title.replace(/^Lost to /, "");
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}, ${signed(difference, stepTime)} per step`;
};

function moved(changes: readonly Change[]): string {
  const others = changes
    .filter(({ id, kind }) => kind === "changed" && !WHOLE.includes(id))
    .slice(0, FEW)
    .map(
      ({ title, difference, unit, per_step: perStep }) =>
        `${title} ${signed(difference, (value) => changeText(value, unit, perStep))}`,
    );
  return ` No timed part of a step grew.${others.length > 0 ? ` Changed at the same time: ${others.join("; ")}.` : ""}`;
}
