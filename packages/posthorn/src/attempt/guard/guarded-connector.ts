// Opens sockets to one origin, to allowed addresses only. Three layers: literals here (Node does not look them up),
// every DNS answer in `names` (the checked answer is the one connected to, so rebinding has no gap), and the peer
// address before TLS begins and before anything is sent.
import net, { isIP, type LookupFunction, type OnReadOpts, type Socket } from "node:net";
import tls, { rootCertificates, type SecureContext } from "node:tls";
import { BlockedAddressError } from "../classify-error.ts";
import type { CheckedNames } from "./checked-names.ts";
import { type AddressPolicy, isAllowedAddress } from "./guard-address.ts";
import type { ResolvedAddress } from "./resolve-name.ts";

export interface GuardedConnectorOptions {
  readonly policy: AddressPolicy;
  readonly names: CheckedNames;
  /** The owner of the connections; null for the operator. */
  readonly tenant: string | null;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly tlsTrust: TlsTrust;
}

/** Receives the events of one connection; none after it has destroyed the socket. */
export interface ConnectionListener {
  /** False if no request waits for the connection. */
  readonly isWanted: boolean;
  /** The socket is being connected. */
  onSocket(socket: Socket): void;
  /** TCP is connected and TLS begins. */
  onTlsStart(): void;
  /** The connection can be used. */
  onReady(): void;
  /** Where the socket's bytes are read to, and what is called then. */
  readonly onread: OnReadOpts;
  /** The peer ended the connection. */
  onEnd(): void;
  /** The connection could not be opened, or broke. */
  onError(error: Error): void;
}

/** Which certificates are accepted. Reading the authorities takes milliseconds, so connections share the result. */
export class TlsTrust {
  readonly #extraCa: readonly string[];
  #context: SecureContext | undefined;

  /** `extraCa`: certificate authorities (PEM) the operator trusts besides the public ones. */
  constructor(extraCa: readonly string[] = []) {
    this.#extraCa = extraCa;
  }

  /** The context that all connections share. It contains no TLS sessions, which tenants do not share. */
  get context(): SecureContext {
    this.#context ??= tls.createSecureContext({
      minVersion: "TLSv1.2",
      ...(this.#extraCa.length > 0 ? { ca: [...rootCertificates, ...this.#extraCa] } : {}),
    });
    return this.#context;
  }
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Opens the connections of one tenant to one origin: tenants share neither connections nor TLS sessions. */
export class GuardedConnector {
  readonly #options: GuardedConnectorOptions;
  readonly #hostname: string;
  readonly #port: number;
  readonly #isTls: boolean;
  #session: Buffer | undefined;

  constructor(options: GuardedConnectorOptions) {
    const { hostname, port, protocol } = new URL(options.origin);
    this.#options = options;
    this.#hostname = hostname.replace(/^\[|\]$/g, "");
    this.#isTls = protocol === "https:";
    this.#port = port === "" ? (this.#isTls ? 443 : 80) : Number(port);
  }

  connect(listener: ConnectionListener): void {
    if (isIP(this.#hostname) === 0) void this.#resolveAndDial(listener);
    else if (isAllowed(this.#hostname, this.#options.policy)) this.#dial([], listener);
    else listener.onError(new BlockedAddressError());
  }

  async #resolveAndDial(listener: ConnectionListener): Promise<void> {
    const { names, tenant } = this.#options;
    try {
      const addresses = await names.addressesOf(tenant, this.#hostname);
      // The request may have been aborted during the lookup.
      if (listener.isWanted) this.#dial(addresses, listener);
    } catch (error) {
      if (listener.isWanted) listener.onError(error as Error);
    }
  }

  #dial(addresses: readonly ResolvedAddress[], listener: ConnectionListener): void {
    const socket = this.#open(addresses, listener);
    const timer = setTimeout(() => socket.destroy(new ConnectTimeoutError()), CONNECT_TIMEOUT_MS);
    const ready = () => {
      clearTimeout(timer);
      socket.off("error", forget);
      listener.onReady();
    };
    const forget = () => this.#options.names.forget(this.#options.tenant, this.#hostname);
    // Before the listener of TLS, which begins the handshake.
    socket.prependOnceListener("connect", () => {
      const problem = peerProblem(socket.remoteAddress, this.#options.policy);
      if (problem !== null) {
        socket.destroy(problem);
        return;
      }
      socket.setNoDelay(true);
      if (this.#isTls) listener.onTlsStart();
      else ready();
    });
    if (this.#isTls) {
      socket.once("secureConnect", ready);
      socket.on("session", (session: Buffer) => {
        this.#session = session;
      });
    }
    socket.once("error", forget);
    socket.on("error", (error) => listener.onError(error));
    socket.once("end", () => listener.onEnd());
    socket.once("close", () => clearTimeout(timer));
    listener.onSocket(socket);
  }

  #open(addresses: readonly ResolvedAddress[], listener: ConnectionListener): Socket {
    const target = {
      host: this.#hostname,
      port: this.#port,
      lookup: lookupOf(addresses),
      onread: listener.onread,
    };
    if (!this.#isTls) return net.connect(target);
    return tls.connect({
      ...target,
      ...(isIP(this.#hostname) === 0 && { servername: this.#hostname }),
      ...(this.#session !== undefined && { session: this.#session }),
      secureContext: this.#options.tlsTrust.context,
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment has no effect.
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"],
    });
  }
}

/**
 * Returns why the peer must not be used, or null. A receiver that resets the connection while it is opened leaves no
 * peer address. That is transient; classified as a blocked address it would be permanent, and the delivery dead.
 */
export function peerProblem(peer: string | undefined, policy: AddressPolicy): Error | null {
  if (peer === undefined) return new ConnectionGoneError();
  return isAllowed(peer, policy) ? null : new BlockedAddressError();
}

class ConnectionGoneError extends Error {
  readonly code = "ECONNRESET";
}

class ConnectTimeoutError extends Error {
  readonly code = "ETIMEDOUT";
}

function isAllowed(ip: string, policy: AddressPolicy): boolean {
  return isAllowedAddress(ip, isIP(ip) === 6 ? 6 : 4, policy);
}

/** Returns a lookup function that does no lookup: the addresses are resolved and checked. */
function lookupOf(checked: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = checked;
    if (first === undefined) callback(new BlockedAddressError(), []);
    else if (options.all === true) callback(null, [...checked]);
    else callback(null, first.address, first.family);
  };
}
