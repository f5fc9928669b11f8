// The one place where the page keeps something in the browser. A page in a frame, or a browser that keeps nothing, throws
// at the very mention of localStorage: then what is chosen holds until the page is left.

export function readKept(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

export function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // not kept
  }
}
