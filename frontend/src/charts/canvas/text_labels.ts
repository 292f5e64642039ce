/** How wide a text stands on the page, in the face that this reader's machine has for it. */

import { token } from "./theme";

/** Mean advance of a letter in the widest face, where there is no canvas to measure on. */
const GUESSED_PIXELS = 8.5;
const widths = new Map<string, number>();
let pen: CanvasRenderingContext2D | null | undefined;
/** Size and family, as a canvas takes them. */
let face = "";

/** CSS pixels of a text of the page's usual size, in bold or not. */
export function textWidth(text: string, weight: 400 | 600): number {
  const key = `${weight}${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  if (pen === undefined) {
    pen = document.createElement("canvas").getContext("2d");
    const root = document.documentElement;
    face = `${token(root, "--t-m") || "13px"} ${token(root, "--font") || "system-ui, sans-serif"}`;
  }
  if (pen !== null) pen.font = `${weight} ${face}`;
  const width = pen === null ? GUESSED_PIXELS * text.length : pen.measureText(text).width;
  widths.set(key, width);
  return width;
}
