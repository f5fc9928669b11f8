// Opens sockets to one origin, to allowed addresses only. Three layers: literals here (Node never looks them up), every
// DNS answer in `names` (the checked answer is the dialled one, so rebinding has no gap), and the peer at the end.
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
  /** Whose connections these are; null is the operator. */
  readonly tenant: string | null;
  /** Does a request wait for a connection? undici also reconnects for requests that were given up. */
  readonly isWanted: () => boolean;
  /** Told how long it took. */
  readonly connectTiming: ConnectTiming;
  /** Certificate authorities (PEM) the operator trusts besides the public ones. */
  readonly extraCa?: readonly string[] | undefined;
}

/** What is known of an origin's newest connection; several at a time are told apart only when they are ready. */
export interface ConnectTiming {
  /** When TCP was through and TLS began, in monotonic milliseconds. */
  connectedAt: number;
  /** The connection that is being handed over right now: whatever request begins meanwhile is the one it was opened for. */
  handedOver: { readonly tlsMs: number | null } | null;
}

export function newConnectTiming(): ConnectTiming {
  return { connectedAt: Number.NEGATIVE_INFINITY, handedOver: null };
}

const CONNECT_TIMEOUT_MS = 5_000;

/** For one tenant and origin: connections and TLS sessions of different tenants have nothing to do with each other. */
export function createGuardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { policy, names, tenant, connectTiming, extraCa = [] } = options;
  let dialled: readonly ResolvedAddress[] = [];
  const connect = buildConnector({
    lookup: handOver(() => dialled),
    timeout: CONNECT_TIMEOUT_MS,
    // Said out loud, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment changes nothing.
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    allowH2: false,
    ...(extraCa.length > 0 ? { ca: [...rootCertificates, ...extraCa] } : {}),
  });

  const check = async (hostname: string): Promise<void> => {
    refuseUnwanted(options.isWanted());
    if (isIP(hostname) === 0) dialled = await names.addressesOf(tenant, hostname);
    else if (!isAllowed(hostname, policy)) throw new BlockedAddressError();
    // It may have been given up while its name was looked up.
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
          // undici begins the request that waits for it before this returns
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
 * A receiver that resets the connection in the moment it is opened leaves no peer to look at. That is its trouble and
 * passes; taken for a forbidden address it would be permanent, and the delivery dead.
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
 * undici makes an error with a stack for every header behind the limit, up to the end of what it has read, also from a
 * socket that it has destroyed: 64 KB of headers cost 100 ms in which nobody else was served. In reads of 2 KB, 5 ms.
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

/** In place of a lookup: there is nothing left to ask. */
function handOver(checked: () => readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = checked();
    if (first === undefined) callback(new BlockedAddressError(), []);
    else if (options.all === true) callback(null, [...checked()]);
    else callback(null, first.address, first.family);
  };
}
