// The addresses of this machine's own interfaces. A public one among them is refused too: Linux routes it over loopback,
// past the host's firewall, to services that were only ever meant for the machine itself.
import { networkInterfaces } from "node:os";
import { type IpBytes, parseIp } from "./ip-address.ts";

/** Interfaces come and go; reading them takes about 50 µs. */
const REFRESH_MS = 30_000;

export interface OwnAddressesOptions {
  readonly read?: typeof networkInterfaces;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** Tells whether an address is one of this machine's, as of at most 30 s ago. */
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

/** Null where the system does not say, as in some sandboxes: the table of special ranges holds all the same. */
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
