/** Places for labels beside vertical lines, so that none covers another. */

export interface Label {
  /** The line it belongs to. */
  readonly x: number;
  readonly width: number;
}

export interface Placed {
  /** Index of the label. */
  readonly label: number;
  readonly left: number;
  /** 0 is the uppermost. */
  readonly line: number;
}

const LINES = 3;
const DISTANCE = 8;

/** Right of the line or left of it, in the first of three lines with room; else left out. */
export function placeLabels(labels: readonly Label[], widthPixels: number): Placed[] {
  const taken: [number, number][][] = Array.from({ length: LINES }, () => []);
  const placed: Placed[] = [];
  labels.forEach(({ x, width }, label) => {
    for (let line = 0; line < LINES; line++) {
      const here = taken[line] as [number, number][];
      const left = [x + DISTANCE, x - DISTANCE - width].find(
        (low) =>
          low >= 2 &&
          low + width <= widthPixels - 2 &&
          here.every(([a, b]) => low + width < a - DISTANCE || low > b + DISTANCE),
      );
      if (left === undefined) continue;
      here.push([left, left + width]);
      placed.push({ label, left, line });
      return;
    }
  });
  return placed;
}
