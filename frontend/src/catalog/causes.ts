/** The fixed vocabulary of causes: how each is called, coloured, patterned and abbreviated. */

import { CAUSE_ROWS, type Family, type Texture } from "./tables";

export type { Family, Texture };

export interface CauseKind {
  readonly id: string;
  /** Two letters that stand for the cause wherever there is no room for its name. */
  readonly code: string;
  readonly name: string;
  /** Hue: causes of one family share it. */
  readonly family: Family;
  /** Tells the members of a family apart without colour. */
  readonly texture: Texture;
}

const kind = (
  id: string,
  code: string,
  name: string,
  family: Family,
  texture: Texture,
): CauseKind => ({ id, code, name, family, texture });

export const UNEXPLAINED = "unexplained";
/** Of a live run: the part of what is unexplained whose cause waits to be confirmed. */
export const CONFIRMING = "confirming";

/** In the order in which a checklist shows them. */
export const CAUSES: readonly CauseKind[] = CAUSE_ROWS.map((row) => kind(...row));

/** The space does not break: a bar without room for the name shows the code, not "Being". */
const BY_ID: ReadonlyMap<string, CauseKind> = new Map(
  [...CAUSES, kind(CONFIRMING, "Bc", "Being\u00a0confirmed", "neutral", "slash")].map((cause) => [
    cause.id,
    cause,
  ]),
);

/** What is known of a cause id; an id of a newer writer is shown by its own name. */
export function causeKind(id: string): CauseKind {
  return BY_ID.get(id) ?? kind(id, "??", sentence(id), "neutral", "slash");
}

/** A cause's name inside a sentence: "input pipeline", but "CPU contention". */
export function nameInText(id: string): string {
  const { name } = causeKind(id);
  return /^([A-Z]{2}|Python)/.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1);
}

/** An id as words: `rss_bytes` becomes "Rss bytes". */
export function sentence(id: string): string {
  const words = id.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const HEALTHY = "healthy";
