// Verifies in bash with openssl, for debugging.
import { code, notesOf, shapeOf, signedIn, type Template, TOLERANCE_SECONDS } from "./snippet.ts";

export const shell: Template = (facts) => {
  const { isToken, isByKeyPair, isHmac, needsId, needsUrl, ...shape } = shapeOf(facts);
  const { signaturePrefix: prefix, separator, encoding, digestParameter } = facts;
  const { timeFormat } = shape;
  const parameters: readonly (readonly string[])[] = [
    ["body_file", "a file with the raw bytes of the body"],
    isByKeyPair ? ["public_key", "the endpoint's public key"] : ["secret", "the endpoint's secret"],
    ["header", `the header ${facts.signatureHeader}`],
    shape.timestampHeader !== null && ["timestamp", `the header ${shape.timestampHeader}`],
    needsId && ["id", `the header ${facts.idHeader}`],
    needsUrl && ["url", "the URL as the sender addressed you"],
  ].filter((parameter) => parameter !== false);
  const values = {
    id: 'printf %s "$id"',
    timestamp: 'printf %s "$timestamp"',
    body: 'cat "$body_file"',
    method: "printf POST",
    url: 'printf %s "$url"',
  };
  const signed = signedIn(facts, values, (text) => `printf %s '${text}'`).join("; ");
  const given = prefix === "" ? "$item" : `\${item#${prefix}}`;
  const encode = encoding === "hex" ? "od -An -v -tx1 | tr -d ' \\n'" : "openssl base64 -A";
  return code(
    "# Needs bash, openssl and coreutils. The comparison is not in constant time: use it to debug, not to serve requests.",
    ...parameters.map(([name, about], index) => `# $${index + 1} ${name}: ${about}`),
    ...notesOf(facts).map((note) => `# ${note}`),
    "is_authentic() {",
    `  local ${parameters.map(([name], index) => `${name}=$${index + 1}`).join(" ")}`,
    isToken && '  [[ $header == "$secret" ]]',
    !isToken && "  local items item",
    separator !== null && `  IFS='${separator}' read -ra items <<<"$header"`,
    shape.timestampPrefix !== null && "  local timestamp=",
    shape.timestampPrefix !== null &&
      `  for item in "\${items[@]}"; do [[ $item == ${shape.timestampPrefix}* ]] && timestamp=\${item#${shape.timestampPrefix}}; done`,
    timeFormat === "seconds" && "  [[ $timestamp =~ ^[0-9]{1,12}$ ]] || return 1",
    timeFormat === "seconds" && "  local age=$(($(date +%s) - 10#$timestamp))",
    timeFormat === "milliseconds" && "  [[ $timestamp =~ ^[0-9]{13}$ ]] || return 1",
    timeFormat === "milliseconds" && "  local age=$(($(date +%s) - 10#$timestamp / 1000))",
    timeFormat === "rfc3339" && "  [[ $timestamp == ????-??-??T* ]] || return 1",
    timeFormat === "rfc3339" && '  local age=$(($(date +%s) - $(date -d "$timestamp" +%s)))',
    timeFormat !== null && `  ((age <= ${TOLERANCE_SECONDS} && age >= -${TOLERANCE_SECONDS})) || return 1`,
    digestParameter !== null &&
      `  [[ $url == *"${digestParameter}=$(openssl dgst -sha256 -r "$body_file" | cut -d' ' -f1)"* ]] || return 1`,
    isHmac && "  local key expected",
    isHmac && sharedKey[facts.key],
    isHmac &&
      `  expected=$({ ${signed}; } | openssl dgst -${shape.hash} -mac HMAC -macopt "hexkey:$key" -binary | ${encode})`,
    isHmac && `  for item in "\${items[@]}"; do [[ $item == "${prefix}$expected" ]] && return 0; done`,
    isByKeyPair && "  local folder",
    isByKeyPair && "  folder=$(mktemp -d)",
    isByKeyPair && `  { ${signed}; } >"$folder/signed"`,
    isByKeyPair && publicKey,
    isByKeyPair && `  for item in "\${items[@]}"; do`,
    isByKeyPair && prefix !== "" && `    [[ $item == ${prefix}* ]] || continue`,
    isByKeyPair && encoding === "hex" && `    [[ ${given} =~ ^[0-9a-f]{128}$ ]] || continue`,
    isByKeyPair &&
      (encoding === "hex"
        ? `    printf %b "$(printf %s "${given}" | sed 's/../\\\\x&/g')" >"$folder/signature"`
        : `    printf %s "${given}" | openssl base64 -d -A >"$folder/signature"`),
    isByKeyPair && verifyFiles,
    isByKeyPair && "  done",
    isByKeyPair && '  rm -r "$folder"',
    !isToken && "  return 1",
    "}",
  );
};

/** In hexadecimal, by the encoding of the secret. */
export const sharedKey = {
  text: "  key=$(printf %s \"$secret\" | od -An -v -tx1 | tr -d ' \\n')",
  hex: "  key=$secret",
  base64: `  key=$(printf %s "\${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`,
  ed25519: false,
} as const;

export const publicKey = `  { printf '\\x30\\x2a\\x30\\x05\\x06\\x03\\x2b\\x65\\x70\\x03\\x21\\x00'; printf %s "\${public_key#whpk_}" | openssl base64 -d -A; } >"$folder/key"`;

export const verifyFiles =
  '    openssl pkeyutl -verify -pubin -keyform DER -inkey "$folder/key" -rawin -in "$folder/signed" -sigfile "$folder/signature" >/dev/null 2>&1 && { rm -r "$folder"; return 0; }';
