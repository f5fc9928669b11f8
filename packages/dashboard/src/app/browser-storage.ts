// Reads and writes localStorage. Where storage is blocked (some frames, some privacy settings) every access throws; then
// nothing is stored.

export function readStored(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

export function writeStored(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // not stored
  }
}
