/** The tokens of the page as colours that a canvas understands, and the textures of causes. */

import { type CauseKind, causeKind, HEALTHY } from "../../catalog/causes";

/** The value of a CSS custom property where `element` stands: `token(this, "--line")`. */
export const token = (element: Element, name: string): string =>
  getComputedStyle(element).getPropertyValue(name).trim();

/** Tokens read once per drawing: reading one forces the browser to look up styles. */
export class Theme {
  readonly #style: CSSStyleDeclaration;
  readonly #colours = new Map<string, string>();
  readonly #fills = new Map<string, string | CanvasPattern>();
  readonly #tiles = new Map<CanvasPattern, HTMLCanvasElement>();

  constructor(
    element: Element,
    private readonly ratio = globalThis.devicePixelRatio || 1,
  ) {
    this.#style = getComputedStyle(element);
  }

  colour(name: string): string {
    const known = this.#colours.get(name);
    if (known !== undefined) return known;
    const value = this.#style.getPropertyValue(`--${name}`).trim() || "#888";
    this.#colours.set(name, value);
    return value;
  }

  font(weight: 400 | 600 = 400): string {
    return `${weight} 11px ${this.colour("font")}`;
  }

  /** What a pattern repeats, as an address of data. */
  readonly tile = (pattern: CanvasPattern): string => this.#tiles.get(pattern)?.toDataURL() ?? "";

  /** Hue of the family, texture of the member. */
  fill(context: CanvasRenderingContext2D, id: string): string | CanvasPattern {
    if (id === HEALTHY) return this.colour("healthy");
    const known = this.#fills.get(id);
    if (known !== undefined) return known;
    const kind = causeKind(id);
    const fill = this.#texture(context, kind);
    this.#fills.set(id, fill);
    return fill;
  }

  #texture(context: CanvasRenderingContext2D, kind: CauseKind): string | CanvasPattern {
    const hue = this.colour(`f-${kind.family}`);
    if (kind.texture === "solid") return hue;
    const size = 6 * Math.max(1, Math.round(this.ratio));
    const tile = document.createElement("canvas");
    tile.width = size;
    tile.height = size;
    const pen = tile.getContext("2d");
    if (pen === null) return hue;
    pen.fillStyle = hue;
    pen.fillRect(0, 0, size, size);
    pen.strokeStyle = this.colour("bg");
    pen.fillStyle = this.colour("bg");
    pen.lineWidth = size / 4;
    pen.beginPath();
    if (kind.texture === "dots") {
      pen.arc(size / 2, size / 2, size / 5, 0, 2 * Math.PI);
      pen.fill();
    } else {
      // Two strokes more than the tile has, so that the corners meet their neighbours.
      for (const shift of [-size, 0, size]) {
        const [from, to] = kind.texture === "slash" ? [size, 0] : [0, size];
        pen.moveTo(shift - size / 2, from + (from === 0 ? -size / 2 : size / 2));
        pen.lineTo(shift + size * 1.5, to + (to === 0 ? -size / 2 : size / 2));
      }
      pen.stroke();
    }
    const pattern = context.createPattern(tile, "repeat");
    if (pattern === null) return hue;
    pattern.setTransform(new DOMMatrix().scale(6 / size));
    this.#tiles.set(pattern, tile);
    return pattern;
  }
}
