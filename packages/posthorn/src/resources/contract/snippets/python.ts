// Verifies in Python with the standard library; Ed25519 needs the package cryptography.
import { code, notesOf, shapeOf, signedIn, type Template, TOLERANCE_SECONDS } from "./snippet.ts";

export const python: Template = (facts) => {
  const { isToken, isByKeyPair, isHmac, needsId, needsUrl, ...shape } = shapeOf(facts);
  const { signatureHeader, signaturePrefix: prefix, separator, encoding, digestParameter } = facts;
  const { timeFormat } = shape;
  const isBase64 = !isToken && (encoding === "base64" || facts.key === "base64" || isByKeyPair);
  const secret = isByKeyPair ? "public_key" : "secret";
  const values = {
    id: "message_id.encode()",
    timestamp: "timestamp.encode()",
    body: "body",
    method: 'b"POST"',
    url: "url.encode()",
  };
  const signed = signedIn(facts, values, (text) => `b${JSON.stringify(text)}`);
  const given = prefix === "" ? "item" : `item[${prefix.length}:]`;
  const digest = `hmac.new(key, signed, hashlib.${shape.hash})`;
  const filter = prefix === "" ? "" : ` if item.startswith("${prefix}")`;
  return code(
    isBase64 && "import base64",
    timeFormat === "rfc3339" && "import datetime",
    (isHmac || digestParameter !== null) && "import hashlib",
    !isByKeyPair && "import hmac",
    timeFormat !== null && "import time",
    isByKeyPair && "",
    isByKeyPair && "from cryptography.exceptions import InvalidSignature",
    isByKeyPair && "from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey",
    "",
    "",
    `def is_authentic(headers, body: bytes, ${secret}: str${needsUrl ? ", url: str" : ""}) -> bool:`,
    '    """headers: with names in any case, such as request.headers. body: the raw bytes, before any JSON parser."""',
    ...notesOf(facts).map((note) => `    # ${note}`),
    separator !== null && `    items = headers.get("${signatureHeader}", "").split("${separator}")`,
    shape.timestampHeader !== null && `    timestamp = headers.get("${shape.timestampHeader}", "")`,
    shape.timestampPrefix !== null &&
      `    timestamp = next((item[${shape.timestampPrefix.length}:] for item in items if item.startswith("${shape.timestampPrefix}")), "")`,
    timeFormat !== null && "    try:",
    timeFormat === "rfc3339" &&
      '        sent_at = datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()',
    timeFormat === "milliseconds" && "        sent_at = int(timestamp) / 1000",
    timeFormat === "seconds" && "        sent_at = int(timestamp)",
    timeFormat !== null && "    except ValueError:",
    timeFormat !== null && "        return False",
    timeFormat !== null && `    if abs(time.time() - sent_at) > ${TOLERANCE_SECONDS}:`,
    timeFormat !== null && "        return False",
    digestParameter !== null && `    if f"${digestParameter}={hashlib.sha256(body).hexdigest()}" not in url:`,
    digestParameter !== null && "        return False",
    needsId && `    message_id = headers.get("${facts.idHeader}", "")`,
    isToken &&
      `    return hmac.compare_digest(headers.get("${signatureHeader}", "").encode(), secret.encode())`,
    !isToken && `    signed = ${signed.join(" + ")}`,
    isHmac && sharedKey[facts.key],
    isHmac &&
      (encoding === "hex"
        ? `    expected = ${digest}.hexdigest().encode()`
        : `    expected = base64.b64encode(${digest}.digest())`),
    isHmac && `    return any(hmac.compare_digest(${given}.encode(), expected) for item in items${filter})`,
    isByKeyPair && publicKey,
    isByKeyPair && "    for item in items:",
    isByKeyPair && "        try:",
    isByKeyPair && prefix !== "" && `            if not item.startswith("${prefix}"):`,
    isByKeyPair && prefix !== "" && "                continue",
    isByKeyPair &&
      `            key.verify(${encoding === "hex" ? "bytes.fromhex" : "base64.b64decode"}(${given}), signed)`,
    isByKeyPair && "            return True",
    isByKeyPair && "        except (InvalidSignature, ValueError):",
    isByKeyPair && "            pass",
    isByKeyPair && "    return False",
  );
};

/** By the encoding of the secret. */
export const sharedKey = {
  text: "    key = secret.encode()",
  hex: "    key = bytes.fromhex(secret)",
  base64: '    key = base64.b64decode(secret.removeprefix("whsec_"))',
  ed25519: false,
} as const;

export const publicKey =
  '    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))';
