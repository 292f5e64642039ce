/** Paints the stack: mean seconds a step by cause, cut at the axis, named where there is room. */

import { range, stepTime } from "../../../base/format";
import { niceTicks } from "../../../base/ticks";
import { causeKind, HEALTHY } from "../../../catalog/causes";
import { layerLabels, type Projection, type Scene } from "../../../model/timeline/scene";
import { stepOfRow } from "../../../model/timeline/track";
import type { Row } from "../rows";
import type { Painting } from "./painting";
import { haloed } from "./painting";

const HEADROOM = 14;
const LABEL_PIXELS = 16;

type Pen = Pick<Painting, "context" | "theme">;

/** Vertical pixel of a height in seconds a step. */
export const stackY = (row: Row, top: number, seconds: number): number =>
  row.top + row.height - (Math.min(seconds, top) / top) * (row.height - HEADROOM);

/** The labelled heights of the stack's axis. */
export const stackTicks = (top: number): number[] =>
  niceTicks(0, top, 6).filter((tick) => tick > 0);

export function paintStack({ context, theme, scene, projection }: Painting, row: Row): void {
  const y = (seconds: number): number => stackY(row, scene.top, seconds);
  context.save();
  context.beginPath();
  context.rect(0, row.top, projection.width, row.height);
  context.clip();
  context.fillStyle = theme.colour("line");
  for (const tick of stackTicks(scene.top)) {
    context.fillRect(0, Math.round(y(tick)), projection.width, 1);
  }
  const borders = scene.track.rows.map((one) => projection.x(one));
  const [first, last] = visible(borders, projection.width);
  scene.layers.forEach((layer, level) => {
    const high = scene.tops[level] as readonly number[];
    const low = scene.tops[level - 1];
    context.beginPath();
    for (let index = first; index <= last; index++) {
      const top = y(high[index] ?? 0);
      context.lineTo(borders[index] as number, top);
      context.lineTo(borders[index + 1] as number, top);
    }
    for (let index = last; index >= first; index--) {
      const floor = y(low?.[index] ?? 0);
      context.lineTo(borders[index + 1] as number, floor);
      context.lineTo(borders[index] as number, floor);
    }
    context.fillStyle = theme.fill(context, layer.id);
    context.fill();
    if (layer.id !== HEALTHY) return;
    context.beginPath();
    for (let index = first; index <= last; index++) {
      context.lineTo(borders[index] as number, y(high[index] ?? 0));
      context.lineTo(borders[index + 1] as number, y(high[index] ?? 0));
    }
    context.strokeStyle = theme.colour("healthy-edge");
    context.lineWidth = 1;
    context.stroke();
  });
  paintCut({ context, theme }, scene, borders, row, first, last);
  context.restore();
  paintNames({ context, theme }, scene, projection, row);
}

/** Buckets wholly or partly in view. */
function visible(borders: readonly number[], width: number): readonly [number, number] {
  const buckets = borders.length - 1;
  let first = borders.findIndex((x) => x > 0) - 1;
  if (first < 0) first = 0;
  let last = buckets - 1;
  while (last > first && (borders[last] as number) >= width) last--;
  return [first, last];
}

/** A triangle over each bucket that is higher than the axis. */
function paintCut(
  { context, theme }: Pen,
  scene: Scene,
  borders: readonly number[],
  row: Row,
  first: number,
  last: number,
): void {
  const heights = scene.tops.at(-1) ?? [];
  let taken = Number.NEGATIVE_INFINITY;
  for (let index = first; index <= last; index++) {
    if ((heights[index] ?? 0) <= scene.top) continue;
    const x = Math.max(4, ((borders[index] as number) + (borders[index + 1] as number)) / 2);
    if (x < taken + 8) continue;
    taken = x;
    context.beginPath();
    context.moveTo(x - 4, row.top + 11);
    context.lineTo(x, row.top + 4);
    context.lineTo(x + 4, row.top + 11);
    context.closePath();
    context.fillStyle = theme.colour("text");
    context.fill();
    context.strokeStyle = theme.colour("bg");
    context.stroke();
  }
}

/** The highest bucket that is cut says what it costs; goes over whatever else is there. */
export function paintHighest({ context, theme, scene, projection }: Painting, row: Row): void {
  const borders = scene.track.rows.map((one) => projection.x(one));
  const [first, last] = visible(borders, projection.width);
  const heights = scene.tops.at(-1) ?? [];
  let highest = first;
  for (let index = first; index <= last; index++) {
    if ((heights[index] ?? 0) > (heights[highest] ?? 0)) highest = index;
  }
  if ((heights[highest] ?? 0) <= scene.top) return;
  const { track, timeline } = scene;
  const steps = range(
    stepOfRow(track, track.rows[highest] ?? 0),
    stepOfRow(track, (track.rows[highest + 1] ?? 1) - 1),
  );
  const one = timeline.count[highest] === 1;
  const text = `${one ? "step" : "steps"} ${steps}: ${stepTime(timeline.step_seconds.mean[highest])}${one ? "" : " per step"}`;
  const x = Math.max(4, ((borders[highest] ?? 0) + (borders[highest + 1] ?? 0)) / 2);
  const width = context.measureText(text).width;
  const end = Math.min(borders.at(-1) ?? 0, projection.width);
  const begin = x + 8 + width < end ? x + 8 : x - 8 - width;
  context.textAlign = "left";
  haloed(context, theme, text, begin, row.top + 12);
}

/** The names of the layers inside them, where they fit. */
function paintNames({ context, theme }: Pen, scene: Scene, projection: Projection, row: Row): void {
  context.font = theme.font(600);
  const healthy = scene.timeline.healthy_step_seconds;
  const names = scene.layers.map(({ id }) =>
    id !== HEALTHY
      ? causeKind(id).name
      : healthy === null
        ? "Not judged yet"
        : `Healthy, ${stepTime(healthy)}`,
  );
  const widths = names.map((name) => context.measureText(name).width + 12);
  const height = row.height - HEADROOM;
  for (const label of layerLabels(scene, projection, height, widths, LABEL_PIXELS)) {
    const id = (scene.layers[label.layer] as { id: string }).id;
    const kind = causeKind(id);
    const name = names[label.layer] as string;
    const y = stackY(row, scene.top, label.seconds);
    if (id !== HEALTHY && kind.texture !== "solid") {
      context.fillStyle = theme.colour(`f-${kind.family}`);
      const width = widths[label.layer] as number;
      context.fillRect(label.x - width / 2, y - 8, width, 16);
    }
    context.fillStyle = theme.colour(id === HEALTHY ? "text" : `on-${kind.family}`);
    context.textAlign = "center";
    context.fillText(name, label.x, y + 4);
  }
  context.font = theme.font();
}
