/** What the painters do to a canvas, as SVG: the part of its 2D context that they use. */

type Style = string | CanvasPattern | CanvasGradient;

interface Pen {
  fillStyle: Style;
  strokeStyle: Style;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: string;
  dash: readonly number[];
  clip: string;
}

const START: Pen = {
  fillStyle: "#000",
  strokeStyle: "#000",
  lineWidth: 1,
  globalAlpha: 1,
  font: "11px sans-serif",
  textAlign: "left",
  dash: [],
  clip: "",
};

const ANCHORS: Readonly<Record<string, string>> = { center: "middle", right: "end" };

const escaped = (text: string): string =>
  text.replace(/[<>&"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const short = (value: number): string => String(Math.round(value * 100) / 100);

export class SvgContext {
  #pen: Pen = { ...START };
  readonly #kept: Pen[] = [];
  readonly #patterns = new Map<CanvasPattern, string>();
  readonly #defs: string[] = [];
  readonly #shapes: string[] = [];
  #path = "";
  textBaseline = "alphabetic";
  lineJoin = "miter";

  /** `measure` knows how wide letters are; `tile` what a pattern is made of. */
  constructor(
    private readonly measure: CanvasRenderingContext2D,
    private readonly tile: (pattern: CanvasPattern) => string,
  ) {}

  get fillStyle(): Style {
    return this.#pen.fillStyle;
  }
  set fillStyle(style: Style) {
    this.#pen.fillStyle = style;
  }
  get strokeStyle(): Style {
    return this.#pen.strokeStyle;
  }
  set strokeStyle(style: Style) {
    this.#pen.strokeStyle = style;
  }
  get lineWidth(): number {
    return this.#pen.lineWidth;
  }
  set lineWidth(width: number) {
    this.#pen.lineWidth = width;
  }
  get globalAlpha(): number {
    return this.#pen.globalAlpha;
  }
  set globalAlpha(alpha: number) {
    this.#pen.globalAlpha = alpha;
  }
  get font(): string {
    return this.#pen.font;
  }
  set font(font: string) {
    this.#pen.font = font;
    this.measure.font = font;
  }
  get textAlign(): string {
    return this.#pen.textAlign;
  }
  set textAlign(align: string) {
    this.#pen.textAlign = align;
  }

  setLineDash(dash: readonly number[]): void {
    this.#pen.dash = dash;
  }
  save(): void {
    this.#kept.push({ ...this.#pen });
  }
  restore(): void {
    this.#pen = this.#kept.pop() ?? { ...START };
  }
  measureText(text: string): TextMetrics {
    return this.measure.measureText(text);
  }

  beginPath(): void {
    this.#path = "";
  }
  moveTo(x: number, y: number): void {
    this.#path += `M${short(x)} ${short(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.#path += `${this.#path === "" ? "M" : "L"}${short(x)} ${short(y)}`;
  }
  rect(x: number, y: number, width: number, height: number): void {
    this.#path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
  }
  closePath(): void {
    this.#path += "z";
  }
  clip(): void {
    const id = `c${this.#defs.length}`;
    this.#defs.push(`<clipPath id="${id}"><path d="${this.#path}"/></clipPath>`);
    this.#pen.clip = id;
  }

  fill(): void {
    this.#put(`path d="${this.#path}"${this.#filled()}`);
  }
  stroke(): void {
    this.#put(`path d="${this.#path}" fill="none"${this.#stroked()}`);
  }
  fillRect(x: number, y: number, width: number, height: number): void {
    this.#put(
      `rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(0, width))}" height="${short(height)}"${this.#filled()}`,
    );
  }
  strokeRect(x: number, y: number, width: number, height: number): void {
    this.beginPath();
    this.rect(x, y, width, height);
    this.stroke();
  }
  clearRect(): void {
    this.#shapes.length = 0;
  }
  fillText(text: string, x: number, y: number): void {
    this.#text(text, x, y, this.#filled());
  }
  strokeText(text: string, x: number, y: number): void {
    this.#text(text, x, y, ` fill="none" stroke-linejoin="round"${this.#stroked()}`);
  }

  /** Everything that was drawn, in a picture of this size on this ground. */
  text(width: number, height: number, ground: string): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}"><defs>${this.#defs.join("")}</defs><rect width="100%" height="100%" fill="${escaped(ground)}"/>${this.#shapes.join("")}</svg>`;
  }

  /** Moves all that was drawn so far to the right and down. */
  shift(x: number, y: number): void {
    this.#shapes.unshift(`<g transform="translate(${short(x)} ${short(y)})">`);
    this.#shapes.push("</g>");
  }

  #text(text: string, x: number, y: number, look: string): void {
    const anchor = ANCHORS[this.#pen.textAlign] ?? "start";
    this.#put(
      `text x="${short(x)}" y="${short(y)}" text-anchor="${anchor}" style="font:${escaped(this.#pen.font)}"${look}`,
      escaped(text),
    );
  }
  #put(shape: string, content?: string): void {
    const { globalAlpha: alpha, clip } = this.#pen;
    const more = `${alpha < 1 ? ` opacity="${alpha}"` : ""}${clip ? ` clip-path="url(#${clip})"` : ""}`;
    const name = shape.split(" ", 1)[0];
    this.#shapes.push(
      content === undefined ? `<${shape}${more}/>` : `<${shape}${more}>${content}</${name}>`,
    );
  }
  #filled(): string {
    return ` fill="${this.#colour(this.#pen.fillStyle)}"`;
  }
  #stroked(): string {
    const { strokeStyle, lineWidth, dash } = this.#pen;
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    return ` stroke="${this.#colour(strokeStyle)}" stroke-width="${short(lineWidth)}"${dashes}`;
  }
  #colour(style: Style): string {
    if (typeof style === "string") return escaped(style);
    if (!(style instanceof CanvasPattern)) return "#888";
    let id = this.#patterns.get(style);
    if (id === undefined) {
      id = `p${this.#defs.length}`;
      this.#patterns.set(style, id);
      this.#defs.push(
        `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse"><image width="6" height="6" href="${this.tile(style)}"/></pattern>`,
      );
    }
    return `url(#${id})`;
  }
}
