/** The answer of the route `changed`. */

export interface Spread {
  /** 10th percentile, median or mean, 90th percentile. */
  readonly low: number;
  readonly level: number;
  readonly high: number;
}

export interface Change {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** The unit is per step. */
  readonly per_step: boolean;
  readonly by: "median" | "mean";
  readonly before: Spread;
  readonly here: Spread;
  readonly difference: number;
  /** In usual variations; what ranks it. */
  readonly strength: number;
  /** "changed" differs, "trend" goes on as before, "same" does not differ. */
  readonly kind: "changed" | "trend" | "same";
  readonly reading: string;
}

/** Rows `first` to `last` against the four times longer stretch before them. */
export interface Changed {
  readonly run: string;
  readonly first: number;
  readonly last: number;
  readonly before_first: number;
  readonly before_last: number | null;
  readonly changes: readonly Change[];
}
