/** Only the newest of several overlapping requests may answer. */

/** Thrown to the caller of a request that a newer one replaced. */
export class Superseded extends Error {
  constructor() {
    super("a newer request replaced this one");
    this.name = "Superseded";
  }
}

/** A slot that holds one request: starting another aborts it and drops its answer. */
export class Latest {
  #current: AbortController | undefined;

  /** Runs `request`; rejects with Superseded if another one is started before it answers. */
  async run<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#current?.abort();
    const mine = new AbortController();
    this.#current = mine;
    try {
      const answer = await request(mine.signal);
      if (mine.signal.aborted) throw new Superseded();
      return answer;
    } catch (error) {
      throw mine.signal.aborted ? new Superseded() : error;
    }
  }

  /** Drops the request under way, if there is one. */
  cancel(): void {
    this.#current?.abort();
    this.#current = undefined;
  }
}
