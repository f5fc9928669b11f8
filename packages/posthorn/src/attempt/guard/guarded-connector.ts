// Opens sockets to one origin, to allowed addresses only. Three layers: literals here (Node does not look them up),
// every DNS answer in `names` (the checked answer is the one connected to, so rebinding has no gap), and the peer
// address at the end.
import { isIP, type LookupFunction, type Socket } from "node:net";
import { rootCertificates } from "node:tls";
import { buildConnector } from "undici";
import { BlockedAddressError } from "../classify-error.ts";
import type { CheckedNames } from "./checked-names.ts";
import { type AddressPolicy, isAllowedAddress } from "./guard-address.ts";
import type { ResolvedAddress } from "./resolve-name.ts";

export interface GuardedConnectorOptions {
  readonly policy: AddressPolicy;
  readonly names: CheckedNames;
  /** The owner of the connections; null for the operator. */
  readonly tenant: string | null;
  /** True if a request waits for a connection. undici also reconnects for aborted requests. */
  readonly isWanted: () => boolean;
  /** Receives the timing of each connection. */
  readonly connectTiming: ConnectTiming;
  /** Certificate authorities (PEM) the operator trusts besides the public ones. */
  readonly extraCa?: readonly string[] | undefined;
}

/** Timing of an origin's newest connection; simultaneous ones are told apart only when they are ready. */
export interface ConnectTiming {
  /** When TCP was connected and TLS began, in monotonic milliseconds. */
  connectedAt: number;
  /** The connection being handed over now: the request that begins meanwhile is the one it was opened for. */
  handedOver: { readonly tlsMs: number | null } | null;
}

export function newConnectTiming(): ConnectTiming {
  return { connectedAt: Number.NEGATIVE_INFINITY, handedOver: null };
}

const CONNECT_TIMEOUT_MS = 5_000;

/** For one tenant and origin: tenants share neither connections nor TLS sessions. */
export function createGuardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { policy, names, tenant, connectTiming, extraCa = [] } = options;
  let dialled: readonly ResolvedAddress[] = [];
  const connect = buildConnector({
    lookup: handOver(() => dialled),
    timeout: CONNECT_TIMEOUT_MS,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment has no effect.
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    allowH2: false,
    ...(extraCa.length > 0 ? { ca: [...rootCertificates, ...extraCa] } : {}),
  });

  const check = async (hostname: string): Promise<void> => {
    refuseUnwanted(options.isWanted());
    if (isIP(hostname) === 0) dialled = await names.addressesOf(tenant, hostname);
    else if (!isAllowed(hostname, policy)) throw new BlockedAddressError();
    // The request may have been aborted during the lookup.
    refuseUnwanted(options.isWanted());
  };

  return (target, callback) => {
    const dial = (): void => {
      let connectedAt = 0;
      const opening = connect(target, (...[error, socket]) => {
        if (error !== null) {
          names.forget(tenant, target.hostname);
          return callback(error, null);
        }
        const problem = peerProblem(socket.remoteAddress, policy);
        if (problem === null) {
          const tlsMs = target.protocol === "https:" ? performance.now() - connectedAt : null;
          connectTiming.handedOver = { tlsMs };
          // undici starts the waiting request before this returns
          callback(null, inSmallReads(socket));
          connectTiming.handedOver = null;
          return;
        }
        socket.destroy();
        callback(problem, null);
      }) as unknown as Socket;
      if (target.protocol !== "https:") return;
      opening.once("connect", () => {
        connectedAt = performance.now();
        connectTiming.connectedAt = connectedAt;
      });
    };
    check(target.hostname)
      .then(dial)
      .catch((error: Error) => callback(error, null));
  };
}

/**
 * A receiver that resets the connection while it is opened leaves no peer address. That is transient; classified as a
 * blocked address it would be permanent, and the delivery dead.
 */
export function peerProblem(peer: string | undefined, policy: AddressPolicy): Error | null {
  if (peer === undefined) return new ConnectionGoneError();
  return isAllowed(peer, policy) ? null : new BlockedAddressError();
}

class ConnectionGoneError extends Error {
  readonly code = "ECONNRESET";
}

function refuseUnwanted(isWanted: boolean): void {
  if (!isWanted) throw new Error("no request waits for this connection");
}

const READ_BYTES = 2_048;

/**
 * undici creates an error with a stack for every header beyond the limit, up to the end of what it has read, even
 * from a socket it has destroyed: 64 KB of headers blocked the event loop for 100 ms. With reads of 2 KB it is 5 ms.
 */
function inSmallReads(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    if (socket.destroyed) return null;
    return read(size ?? (socket.readableLength > READ_BYTES ? READ_BYTES : undefined));
  };
  return socket;
}

function isAllowed(ip: string, policy: AddressPolicy): boolean {
  return isAllowedAddress(ip, isIP(ip) === 6 ? 6 : 4, policy);
}

/** Replaces the lookup: the addresses are known. */
function handOver(checked: () => readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = checked();
    if (first === undefined) callback(new BlockedAddressError(), []);
    else if (options.all === true) callback(null, [...checked()]);
    else callback(null, first.address, first.family);
  };
}
