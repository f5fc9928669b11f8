// Regular expressions of schemas, matched in linear time. JavaScript's own engine takes exponential time for some
// patterns (`^(a+)+$`), and the text is untrusted. This simulates all alternatives in parallel (Thompson, 1968).
// Backreferences and lookaround, which it cannot match, are rejected when a schema is saved.

/** Each state costs a step per character; `x{1,100}` has a hundred. */
export const MAX_PATTERN_STATES = 500;
export const MAX_PATTERN_LENGTH = 500;

export class PatternError extends Error {}

/** Called with the steps of each character; throws to stop. */
export type Spend = (steps: number) => void;

export interface LinearPattern {
  test(text: string, spend?: Spend): boolean;
}

/** Throws a `PatternError` for an invalid or unsupported pattern. */
export function linearPattern(source: string): LinearPattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new PatternError(`it has ${source.length} characters; at most ${MAX_PATTERN_LENGTH} are allowed`);
  }
  try {
    new RegExp(source, "u");
  } catch {
    throw new PatternError("it is not a regular expression of ECMA-262 with the flag u");
  }
  const program = new Compiler(source).program();
  // allocated once: four arrays per text took longer than matching a short one
  const sets: Sets = [new StepSet(program.length), new StepSet(program.length)];
  return { test: (text, spend = () => {}) => matches(program, text, spend, sets) };
}

type Step =
  | { readonly kind: "character"; readonly accepts: (codePoint: number) => boolean }
  | { readonly kind: "fork"; readonly to: readonly number[] }
  | { readonly kind: "assert"; readonly holds: (before: number, after: number) => boolean }
  | { readonly kind: "match" };

/** The start or end of the text. */
const EDGE = -1;

type Sets = readonly [here: StepSet, next: StepSet];

function matches(program: readonly Step[], text: string, spend: Spend, sets: Sets): boolean {
  let [here, next] = sets;
  here.clear();
  next.clear();
  spend(4);
  let before = EDGE;
  let after = codePointAt(text, 0);
  for (let at = 0; ; ) {
    // a match may start anywhere
    if (follow(program, 0, before, after, here)) return true;
    if (after === EDGE) return false;
    spend(1 + here.size);
    at += after > 0xffff ? 2 : 1;
    const following = codePointAt(text, at);
    for (let nth = 0; nth < here.size; nth += 1) {
      const index = here.at(nth);
      const step = program[index] as Step;
      if (step.kind !== "character" || !step.accepts(after)) continue;
      if (follow(program, index + 1, after, following, next)) return true;
    }
    [here, next] = [next, here];
    next.clear();
    [before, after] = [after, following];
  }
}

function codePointAt(text: string, at: number): number {
  return text.codePointAt(at) ?? EDGE;
}

/** Adds every step that is reachable without a character. Returns true at the end of the pattern. */
function follow(
  program: readonly Step[],
  from: number,
  before: number,
  after: number,
  into: StepSet,
): boolean {
  if (!into.add(from)) return false;
  // the set is also the work list
  for (let nth = into.size - 1; nth < into.size; nth += 1) {
    const index = into.at(nth);
    const step = program[index] as Step;
    if (step.kind === "match") return true;
    if (step.kind === "fork") for (const to of step.to) into.add(to);
    if (step.kind === "assert" && step.holds(before, after)) into.add(index + 1);
  }
  return false;
}

/** A set of steps that is cleared at no cost: a Set took ten times as long per character. */
class StepSet {
  readonly #steps: Uint16Array;
  readonly #places: Uint16Array;
  size = 0;

  constructor(capacity: number) {
    this.#steps = new Uint16Array(capacity);
    this.#places = new Uint16Array(capacity);
  }

  /** Returns false if it was already there. */
  add(step: number): boolean {
    const place = this.#places[step] as number;
    if (place < this.size && this.#steps[place] === step) return false;
    this.#places[step] = this.size;
    this.#steps[this.size] = step;
    this.size += 1;
    return true;
  }

  at(place: number): number {
    return this.#steps[place] as number;
  }

  clear(): void {
    this.size = 0;
  }
}

/** A part of a program with relative jumps. */
type Piece = readonly Step[];

class Compiler {
  readonly #source: string;
  readonly #characters = new Map<string, Step>();
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  program(): readonly Step[] {
    return [...this.#alternatives(), { kind: "match" }];
  }

  #alternatives(): Piece {
    let piece = this.#sequence();
    while (this.#takes("|")) piece = either(piece, this.#sequence());
    return piece;
  }

  #sequence(): Piece {
    let piece: Piece = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at] as string)) {
      piece = bounded(joined(piece, this.#repeated(this.#atom())));
    }
    return piece;
  }

  #atom(): Piece {
    if (this.#takes("^")) return [{ kind: "assert", holds: (before) => before === EDGE }];
    if (this.#takes("$")) return [{ kind: "assert", holds: (_before, after) => after === EDGE }];
    if (this.#takes("\\b")) return [{ kind: "assert", holds: isWordEdge }];
    if (this.#takes("\\B")) return [{ kind: "assert", holds: (before, after) => !isWordEdge(before, after) }];
    if (this.#takes("(?=") || this.#takes("(?!") || this.#takes("(?<=") || this.#takes("(?<!")) {
      throw new PatternError("looking ahead and behind is not supported");
    }
    if (this.#takes("(")) return this.#group();
    return [this.#character()];
  }

  #group(): Piece {
    if (this.#takes("?:") || this.#takes("?<")) {
      if (this.#source[this.#at - 1] === "<") this.#at = this.#source.indexOf(">", this.#at) + 1;
    } else if (this.#source[this.#at] === "?") {
      throw new PatternError("groups with flags are not supported");
    }
    const piece = this.#alternatives();
    this.#at += 1; // the closing parenthesis, which is there since the whole is valid
    return piece;
  }

  /** One character or class, matched by JavaScript's engine, which is fast for one character. */
  #character(): Step {
    const rest = this.#source.slice(this.#at);
    if (/^\\(?:[1-9]|k<)/.test(rest)) throw new PatternError("references back to a group are not supported");
    const [text] = ATOM.exec(rest) as RegExpExecArray;
    this.#at += text.length;
    let step = this.#characters.get(text);
    if (step === undefined) {
      step = { kind: "character", accepts: acceptsOf(text) };
      this.#characters.set(text, step);
    }
    return step;
  }

  #repeated(piece: Piece): Piece {
    const [text, symbol, least, comma, most] = QUANTIFIER.exec(this.#source.slice(this.#at)) ?? [];
    if (text === undefined) return piece;
    this.#at += text.length;
    if (symbol === "*") return anyNumberOf(piece);
    if (symbol === "+") return joined(piece, anyNumberOf(piece));
    if (symbol === "?") return either(piece, []);
    const atLeast = timesOver(piece, Number(least));
    if (comma === undefined) return atLeast;
    if (most === "" || most === undefined) return joined(atLeast, anyNumberOf(piece));
    return joined(atLeast, timesOver(either(piece, []), Number(most) - Number(least)));
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }
}

function acceptsOf(text: string): (codePoint: number) => boolean {
  // a table takes 10 µs to build, and most of a pattern is plain letters
  if (/^[\w-]$/.test(text)) {
    const only = text.charCodeAt(0);
    return (code) => code === only;
  }
  const one = new RegExp(`^${text}$`, "u");
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(one.test(String.fromCharCode(code))));
  return (code) => (code < 128 ? ascii[code] === 1 : one.test(String.fromCodePoint(code)));
}

/** A bracketed class, an escape sequence, or any character. */
const ATOM =
  /^(?:\[(?:\\.|[^\]\\])*\]|\\(?:u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}(?:\\u[dD][c-fC-F][0-9A-Fa-f]{2})?|x[0-9A-Fa-f]{2}|[pP]\{[^}]*\}|c[A-Za-z]|.)|.)/su;

/** Laziness does not affect whether it matches. */
const QUANTIFIER = /^(?:([*+?])|\{(\d+)(,)?(\d*)\})\??/;

function isWordEdge(before: number, after: number): boolean {
  return isWord(before) !== isWord(after);
}

function isWord(code: number): boolean {
  return code !== EDGE && code < 128 && /\w/.test(String.fromCharCode(code));
}

function joined(first: Piece, second: Piece): Piece {
  return [...first, ...moved(second, first.length)];
}

function either(first: Piece, second: Piece): Piece {
  const end = first.length + second.length + 2;
  return [
    { kind: "fork", to: [1, first.length + 2] },
    ...moved(first, 1),
    { kind: "fork", to: [end] },
    ...moved(second, first.length + 2),
  ];
}

function anyNumberOf(piece: Piece): Piece {
  return [{ kind: "fork", to: [1, piece.length + 2] }, ...moved(piece, 1), { kind: "fork", to: [0] }];
}

function timesOver(piece: Piece, times: number): Piece {
  if (times * piece.length > MAX_PATTERN_STATES) throw tooLarge();
  let all: Piece = [];
  for (let time = 0; time < times; time += 1) all = joined(all, piece);
  return all;
}

function moved(piece: Piece, by: number): Piece {
  return piece.map((step) => (step.kind === "fork" ? { ...step, to: step.to.map((to) => to + by) } : step));
}

function bounded(piece: Piece): Piece {
  if (piece.length > MAX_PATTERN_STATES) throw tooLarge();
  return piece;
}

function tooLarge(): PatternError {
  return new PatternError(
    `it has more than ${MAX_PATTERN_STATES} steps once its repetitions are written out`,
  );
}
