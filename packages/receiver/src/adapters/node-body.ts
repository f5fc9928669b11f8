// The body of a request on Node, in chunks. Iterating over the stream itself takes 3 µs more, a twentieth of a request.

/** The used part of Node's `Readable`. */
export interface NodeStream {
  readonly destroyed: boolean;
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  off(event: "end" | "close", listener: () => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** Listens to the stream only when it is iterated, and leaves it open when the iteration stops early. */
export function bodyOf(stream: NodeStream): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => new Chunks(stream) };
}

interface Reader {
  resolve(result: IteratorResult<Uint8Array, undefined>): void;
  reject(error: Error): void;
}

const DONE = { done: true, value: undefined } as const;

class Chunks implements AsyncIterator<Uint8Array, undefined> {
  readonly #stream: NodeStream;
  /** Chunks that nobody has asked for yet; the stream is paused meanwhile. */
  readonly #queued: Uint8Array[] = [];
  /** Of a `next()` without a result. */
  #reader: Reader | null = null;
  #end: "open" | "ended" | Error = "open";

  constructor(stream: NodeStream) {
    this.#stream = stream;
    if (stream.destroyed) this.#end = aborted();
    else this.#listen();
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const value = this.#queued.shift();
    if (value !== undefined) {
      if (this.#queued.length === 0) this.#stream.resume();
      return Promise.resolve({ done: false, value });
    }
    if (this.#end === "ended") return Promise.resolve(DONE);
    if (this.#end !== "open") return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  async return(): Promise<typeof DONE> {
    this.#stopListening();
    return DONE;
  }

  readonly #onData = (value: Uint8Array): void => {
    const reader = this.#reader;
    this.#reader = null;
    if (reader !== null) {
      reader.resolve({ done: false, value });
      return;
    }
    this.#queued.push(value);
    this.#stream.pause();
  };

  readonly #onEnd = (): void => {
    this.#end = "ended";
    this.#stopListening();
    this.#reader?.resolve(DONE);
  };

  readonly #onError = (error: Error): void => {
    this.#end = error;
    this.#stopListening();
    this.#reader?.reject(error);
  };

  readonly #onClose = (): void => this.#onError(aborted());

  #listen(): void {
    this.#stream.on("data", this.#onData);
    this.#stream.on("end", this.#onEnd);
    this.#stream.on("error", this.#onError);
    this.#stream.on("close", this.#onClose);
  }

  #stopListening(): void {
    this.#stream.off("data", this.#onData);
    this.#stream.off("end", this.#onEnd);
    this.#stream.off("error", this.#onError);
    this.#stream.off("close", this.#onClose);
  }
}

const aborted = (): Error => new Error("The connection was closed before the end of the body.");
