/**
 * Numbers as a reader wants them: tabular, with a unit after a space, in one way everywhere.
 *
 * `null` and NaN mean "not measured" and are shown as an en dash, never as zero.
 */

export const MISSING = "–";

type Maybe = number | null | undefined;

const measured = (value: Maybe): value is number =>
  typeof value === "number" && !Number.isNaN(value);

/** A number with thousands separators and a fixed number of decimals: `1,422.9`. */
export function decimal(value: Maybe, digits: number): string {
  if (!measured(value)) return MISSING;
  const text = Math.abs(value).toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** A whole number with thousands separators: `12,400`. */
export const count = (value: Maybe): string => decimal(value, 0);

/** With a fixed number of decimals; what is above zero and below them is `<0.1`, never `0.0`. */
function resolved(value: number, digits: number): string {
  const text = decimal(value, digits);
  return value > 0 && !/[1-9]/.test(text) ? `<${decimal(10 ** -digits, digits)}` : text;
}

/** Seconds of a ledger: `1,422.9 s`; of a wall below 100 s to a hundredth: `0.29 s`. */
export const ledgerSeconds = (value: Maybe, wallSeconds = Number.POSITIVE_INFINITY): string =>
  measured(value) ? `${resolved(value, wallSeconds < 100 ? 2 : 1)} s` : MISSING;

/** A share of one as percent with one decimal: `15.3%`. */
export const percent = (share: Maybe): string =>
  measured(share) ? `${resolved(share * 100, 1)}%` : MISSING;

/**
 * A stretch of time in prose: `23 min 43 s`, `2 h 35 min`, `3.42 s`. The same figure as in the
 * server's sentences: `wording.duration` in Python writes all that `tests/durations.json` has.
 */
export function duration(seconds: Maybe): string {
  if (!measured(seconds)) return MISSING;
  if (seconds < 0) return `−${duration(-seconds)}`;
  if (seconds > 0 && seconds < 0.00009995) return `${threeDigits(seconds * 1e6)} µs`;
  if (seconds < 0.9995) return `${threeDigits(seconds * 1000)} ms`;
  if (seconds < 9.995) return `${Number(seconds.toFixed(2))} s`;
  if (seconds < 59.95) return `${decimal(seconds, 1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.round(seconds / 3600);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const threeDigits = (value: number): number =>
  value >= 100 ? Math.round(value) : Number(value.toPrecision(3));

/** What a step takes: `517.5 ms`, `0.42 ms`, `6.4 s`. */
export function stepTime(seconds: Maybe): string {
  if (!measured(seconds)) return MISSING;
  const size = Math.abs(seconds);
  if (size === 0) return "0 ms";
  if (size >= 99.95) return `${decimal(seconds, 1)} s`;
  if (size >= 0.9995) return `${decimal(seconds, 2)} s`;
  const milliseconds = seconds * 1000;
  if (size >= 0.00995) return `${decimal(milliseconds, 1)} ms`;
  if (size >= 0.0000995) return `${decimal(milliseconds, 2)} ms`;
  return `${resolved(milliseconds * 1000, 1)} µs`;
}

/** A number with its sign, also when it is positive: `+199`, `−8`. */
export function signed(value: Maybe, show: (value: number) => string): string {
  if (!measured(value)) return MISSING;
  const text = show(Math.abs(value));
  if (!/[1-9]/.test(text)) return `±${text}`;
  return `${value < 0 ? "−" : "+"}${text}`;
}

/** An inclusive range: `8,200–8,599`, or one number where both ends agree. */
export const range = (first: number, last: number): string =>
  first === last ? count(first) : `${count(first)}–${count(last)}`;

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** Which power of 1,024 suits a number of bytes: 0 (B) to 5 (PiB). */
export function byteScale(bytes: number): number {
  const power = Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10);
  return Math.min(BINARY.length - 1, power);
}

/** Bytes in the unit that suits them: `9.24 GiB`. */
export function bytes(value: Maybe, power?: number): string {
  if (!measured(value)) return MISSING;
  const scale = power ?? byteScale(value);
  const size = value / 1024 ** scale;
  const digits = scale === 0 || Math.abs(size) >= 100 ? 0 : Math.abs(size) >= 10 ? 1 : 2;
  return `${decimal(size, digits)} ${BINARY[scale]}`;
}

/** A value of a signal in its unit; an unknown unit is written after the number. */
export function quantity(value: Maybe, unit: string): string {
  if (!measured(value)) return MISSING;
  switch (unit) {
    case "bytes":
      return bytes(value);
    case "bytes_per_second":
      return `${bytes(value)}/s`;
    case "seconds":
      return stepTime(value);
    case "fraction":
      return percent(value);
    case "percent":
      return `${decimal(value, 1)}%`;
    case "celsius":
      return `${decimal(value, 0)} °C`;
    case "hertz":
      return `${decimal(value / 1e6, 0)} MHz`;
    case "milliwatts":
      return `${decimal(value / 1000, 1)} W`;
    default:
      return plain(value) + (unit === "count" || unit === "" ? "" : ` ${unit}`);
  }
}

const SMALL = 0.1;

/** A number with as many decimals as it needs, at most two; below 0.1 two digits. */
export function plain(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < SMALL) return String(Number(value.toPrecision(2)));
  return decimal(value, Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** How long ago a moment was: `2 s ago`, `5 min ago`, `3 days ago`. */
export function ago(seconds: number): string {
  const past = Math.max(0, seconds);
  if (past < 59.5) return `${Math.round(past)} s ago`;
  if (past < 3570) return `${Math.round(past / 60)} min ago`;
  if (past < 36 * 3600) return `${Math.round(past / 3600)} h ago`;
  return `${Math.round(past / 86400)} days ago`;
}

/** The time of day of a Unix moment in the reader's zone: `14:02:31`. */
export const clock = (unixSeconds: number): string =>
  new Date(unixSeconds * 1000).toLocaleTimeString("en-GB");

/** "1 step", "2 steps". */
export const plural = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`;
