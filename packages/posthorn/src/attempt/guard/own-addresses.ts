// The addresses of this machine's own interfaces. Public ones are blocked too: Linux routes them over loopback, past
// the host's firewall, to services that are meant for the machine itself.
import { networkInterfaces } from "node:os";
import { type IpBytes, parseIp } from "./ip-address.ts";

/** Interfaces change; reading them takes about 50 µs. */
const REFRESH_MS = 30_000;

export interface OwnAddressesOptions {
  readonly read?: typeof networkInterfaces;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** Returns a function that checks whether an address is this machine's, as of at most 30 s ago. */
export function ownAddresses({
  read = networkInterfaces,
  now = () => performance.now(),
}: OwnAddressesOptions = {}): (address: IpBytes) => boolean {
  let known = new Set<string>();
  let readAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    if (now() - readAt >= REFRESH_MS) {
      known = readAddresses(read) ?? known;
      readAt = now();
    }
    return known.has(keyOf(address));
  };
}

/** Returns null if the system does not list them, as in some sandboxes: the table of special ranges still applies. */
function readAddresses(read: typeof networkInterfaces): Set<string> | null {
  try {
    const found = new Set<string>();
    for (const { address } of Object.values(read()).flatMap((list) => list ?? [])) {
      const bytes = parseIp(address);
      if (bytes !== null) found.add(keyOf(bytes));
    }
    return found;
  } catch {
    return null;
  }
}

function keyOf(address: IpBytes): string {
  return address.join(".");
}
