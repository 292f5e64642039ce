/** Paints change points: a dashed line each, and what begins there where it finds a place. */

import { count } from "../../../base/format";
import { placeLabels } from "../../canvas/labels";
import type { Painting } from "./painting";
import { haloed } from "./painting";

const LINE = 16;
const FIRST_LINE = 26;

export function paintChanges({ context, theme, scene, projection, layout }: Painting): void {
  const stack = layout.rows.find((row) => row.kind === "stack");
  const time = layout.rows.find((row) => row.kind === "time");
  if (stack === undefined || time === undefined) return;
  const seen = scene.timeline.change_points
    .map((change) => ({ ...change, x: Math.round(projection.x(change.row)) + 0.5 }))
    .filter(({ x }) => x >= 0 && x <= projection.width);
  context.strokeStyle = theme.colour("text");
  context.fillStyle = theme.colour("text");
  for (const { x } of seen) {
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(x, stack.top);
    context.lineTo(x, time.top + time.height);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(x - 5, stack.top - 6);
    context.lineTo(x + 5, stack.top - 6);
    context.lineTo(x, stack.top);
    context.fill();
  }
  context.font = theme.font(600);
  context.textAlign = "left";
  const texts = seen.map((change) => `${count(change.step)}: ${change.text}`);
  const labels = seen.map(({ x }, index) => ({
    x,
    width: context.measureText(texts[index] as string).width,
  }));
  for (const { label, left, line } of placeLabels(labels, projection.width)) {
    const y = stack.top + FIRST_LINE + line * LINE;
    haloed(context, theme, texts[label] as string, left, y);
  }
  context.font = theme.font();
}
