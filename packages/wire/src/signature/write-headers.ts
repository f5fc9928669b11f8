// Writes signatures into headers.
import type { HeaderNames } from "../headers.ts";
import type { Scheme, SignedMessage } from "./scheme.ts";

/** `signatures` are encoded, and ordered by the expiry of their secrets, soonest first. */
export function writeSignatureHeaders(
  headers: Record<string, string>,
  scheme: Scheme,
  names: HeaderNames,
  message: Pick<SignedMessage, "id" | "timestamp">,
  signatures: readonly string[],
): void {
  const { id, timestamp, signature, signatureNext } = scheme.headers;
  if (id) headers[id(names)] = message.id;
  if (timestamp) headers[timestamp(names)] = message.timestamp;
  const here = scheme.format.holdsMany ? signatures : signatures.slice(0, 1);
  addSignatures(headers, signature(names), scheme, scheme.format.write(here, message.timestamp));
  if (signatureNext && here.length < signatures.length) {
    headers[signatureNext(names)] = scheme.format.write(signatures.slice(1), message.timestamp);
  }
}

function addSignatures(headers: Record<string, string>, header: string, scheme: Scheme, value: string): void {
  const present = headers[header];
  if (present === undefined) headers[header] = value;
  else if (scheme.shares === "first") headers[header] = `${value} ${present}`;
  else if (scheme.shares === "last") headers[header] = `${present} ${value}`;
  else throw new Error(`Two signature schemes write ${header}; check the choice with schemeProblems().`);
}
