// The common lifecycle of long-running parts, and the loop that they run.

/** `stop` may be called twice, or before `start`. */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Repeats a step until it is stopped. The step returns how long to wait before the next one, unless `wake` is called. */
export class PollLoop implements Service {
  readonly #owner: string;
  readonly #step: () => Promise<number>;
  #loop: Promise<void> | undefined;
  #isStopped = false;
  #isWoken = false;
  #endWait: (() => void) | undefined;

  constructor(owner: string, step: () => Promise<number>) {
    this.#owner = owner;
    this.#step = step;
  }

  get isStarted(): boolean {
    return this.#loop !== undefined;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  async start(): Promise<void> {
    if (this.#isStopped)
      throw new Error(`A stopped ${this.#owner} cannot be started again. Create a new one.`);
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endWait?.();
    await this.#loop;
  }

  wake(): void {
    this.#isWoken = true;
    this.#endWait?.();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isWoken = false;
      await this.#wait(jittered(await this.#step()));
    }
  }

  async #wait(ms: number): Promise<void> {
    if (this.#isWoken || this.#isStopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endWait = undefined;
  }
}

/** A quarter more or less, so that processes do not poll at the same moment. */
export function jittered(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
