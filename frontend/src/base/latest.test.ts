import { describe, expect, it } from "vitest";
import { Latest, Superseded } from "./latest";

/** A request whose answer the test gives when it likes. */
function held(): {
  request: (signal: AbortSignal) => Promise<string>;
  answer: (text: string) => void;
  aborted: () => boolean;
} {
  let resolve: (text: string) => void = () => undefined;
  let seen: AbortSignal | undefined;
  const promise = new Promise<string>((done) => {
    resolve = done;
  });
  return {
    request: (signal) => {
      seen = signal;
      return promise;
    },
    answer: (text) => resolve(text),
    aborted: () => seen?.aborted ?? false,
  };
}

describe("Latest", () => {
  it("drops the late answer of an older request and aborts it", async () => {
    const slot = new Latest();
    const [old, young] = [held(), held()];
    const first = slot.run(old.request);
    const second = slot.run(young.request);
    expect(old.aborted()).toBe(true);
    young.answer("young");
    old.answer("old");
    await expect(second).resolves.toBe("young");
    await expect(first).rejects.toBeInstanceOf(Superseded);
  });

  it("hands on the error of the newest request", async () => {
    await expect(new Latest().run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("drops a cancelled request", async () => {
    const slot = new Latest();
    const one = held();
    const answer = slot.run(one.request);
    slot.cancel();
    one.answer("too late");
    await expect(answer).rejects.toBeInstanceOf(Superseded);
  });
});
