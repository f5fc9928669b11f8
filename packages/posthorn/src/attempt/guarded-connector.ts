// Opens sockets, to allowed addresses only. Three layers: literals here (Node never calls `lookup` for them), every
// DNS answer in `lookup` (the checked answer is the dialled answer, so rebinding has no gap), and the peer at the end.
import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { rootCertificates } from "node:tls";
import { buildConnector } from "undici";
import { BlockedAddressError } from "./classify-error.ts";
import { type AddressPolicy, isAllowedAddress } from "./guard-address.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. Rejects with a DNS error code, as `dns.lookup` does. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface GuardedConnectorOptions {
  readonly policy: AddressPolicy;
  readonly resolve?: Resolve | undefined;
  readonly connectTimeoutMs: number;
  /** Does a request wait for a connection to this origin? undici also reconnects for requests that were given up. */
  readonly isWanted: (origin: string) => boolean;
  /** Certificate authorities (PEM) the operator trusts besides the public ones. */
  readonly extraCa?: readonly string[] | undefined;
}

export function createGuardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { policy, extraCa = [] } = options;
  const connect = buildConnector({
    lookup: guardedLookup(policy, options.resolve ?? systemResolver(policy)),
    timeout: options.connectTimeoutMs,
    // Said out loud, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment changes nothing.
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    allowH2: false,
    ...(extraCa.length > 0 ? { ca: [...rootCertificates, ...extraCa] } : {}),
  });

  // Refusals come in the next tick, because undici is still inside its own dispatch.
  return (target, callback) => {
    if (!options.isWanted(`${target.protocol}//${target.host}`)) {
      process.nextTick(callback, new Error("no request waits for this connection"), null);
      return;
    }
    const family = isIP(target.hostname);
    if (family !== 0 && !isAllowedAddress(target.hostname, family === 6 ? 6 : 4, policy)) {
      process.nextTick(callback, new BlockedAddressError(), null);
      return;
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const problem = peerProblem(socket.remoteAddress, policy);
      if (problem === null) return callback(null, socket);
      socket.destroy();
      callback(problem, null);
    });
  };
}

/**
 * A receiver that resets the connection in the moment it is opened leaves no peer to look at. That is its trouble and
 * passes; taken for a forbidden address it would be permanent, and the delivery dead.
 */
export function peerProblem(peer: string | undefined, policy: AddressPolicy): Error | null {
  if (peer === undefined) return new ConnectionGoneError();
  return isAllowedAddress(peer, isIP(peer) === 6 ? 6 : 4, policy) ? null : new BlockedAddressError();
}

class ConnectionGoneError extends Error {
  readonly code = "ECONNRESET";
}

/** One bad address rejects the whole answer: a mixed answer is an attack, or will be one at the next lookup. */
export function guardedLookup(policy: AddressPolicy, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (answer) => {
        const [first] = answer;
        if (first === undefined) return callback(new EmptyAnswerError(), []);
        if (!answer.every(({ address, family }) => isAllowedAddress(address, family, policy))) {
          return callback(new BlockedAddressError(), []);
        }
        if (options.all === true) return callback(null, answer.slice(0, MAX_ADDRESSES_TRIED));
        callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}

/** A name may have hundreds of addresses; one attempt will not knock on each. */
const MAX_ADDRESSES_TRIED = 8;

class EmptyAnswerError extends Error {
  readonly code = "ENODATA";
}

// The dot at the end keeps resolv.conf's search domains out: `hooks.example.com` must never become
// `hooks.example.com.svc.cluster.local`. Host header and SNI keep the name without it. An operator who opened private
// ranges also has private names, which live in search domains and in /etc/hosts (where a dotted name is not found).
function systemResolver(policy: AddressPolicy): Resolve {
  const dot = policy.allowedCidrs.length === 0 ? "." : "";
  return async (hostname) => {
    const answer = await systemLookup(hostname + dot, { all: true });
    return answer.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  };
}
