// Verifies HTTP Message Signatures in bash with openssl, for debugging.
import { publicKey, sharedKey, verifyFiles } from "../shell.ts";
import { code, TOLERANCE_SECONDS } from "../snippet.ts";
import type { MessageTemplate } from "./message.ts";

export const shell: MessageTemplate = (key) => {
  const isByKeyPair = key === "ed25519";
  const parameters = [
    ["body_file", "a file with the raw bytes of the body"],
    isByKeyPair ? ["public_key", "the endpoint's public key"] : ["secret", "the endpoint's secret"],
    ["signature", "the header Signature"],
    ["input", "the header Signature-Input"],
    ["digest", "the header Content-Digest"],
    ["content_type", "may be empty: the header Content-Type"],
    ["id", "the header webhook-id"],
    ["timestamp", "the header webhook-timestamp"],
    ["url", "the URL as the sender addressed you"],
  ];
  return code(
    "# Needs bash, openssl and coreutils. The comparison is not in constant time: use it to debug, not to serve requests.",
    ...parameters.map(([name, about], index) => `# $${index + 1} ${name}: ${about}`),
    "is_authentic() {",
    `  local ${parameters.map(([name], index) => `${name}=$${index + 1}`).join(" ")}`,
    "  [[ $timestamp =~ ^[0-9]{1,12}$ ]] || return 1",
    "  local age=$(($(date +%s) - 10#$timestamp))",
    `  ((age <= ${TOLERANCE_SECONDS} && age >= -${TOLERANCE_SECONDS})) || return 1`,
    '  [[ $digest == "sha-256=:$(openssl dgst -sha256 -binary "$body_file" | openssl base64 -A):" ]] || return 1',
    `  local covered='"@method" "@target-uri"' lines='"@method": POST'$'\\n'"\\"@target-uri\\": $url"$'\\n'`,
    "  if [[ -n $content_type ]]; then",
    `    covered+=' "content-type"' lines+="\\"content-type\\": $content_type"$'\\n'`,
    "  fi",
    `  covered+=' "content-digest" "webhook-id" "webhook-timestamp"'`,
    `  lines+="\\"content-digest\\": $digest"$'\\n'"\\"webhook-id\\": $id"$'\\n'"\\"webhook-timestamp\\": $timestamp"$'\\n'`,
    "  local items inputs index params given",
    `  mapfile -t items <<<"\${signature//, /$'\\n'}"`,
    `  mapfile -t inputs <<<"\${input//, /$'\\n'}"`,
    !isByKeyPair && "  local key expected",
    !isByKeyPair && sharedKey[key],
    isByKeyPair && "  local folder",
    isByKeyPair && "  folder=$(mktemp -d)",
    isByKeyPair && publicKey,
    `  for index in "\${!items[@]}"; do`,
    `    params=\${inputs[$index]:-} params=\${params#*=}`,
    `    given=\${items[$index]#*=:} given=\${given%:}`,
    '    [[ $params == "($covered);"* ]] || continue',
    !isByKeyPair &&
      `    expected=$(printf %s "$lines\\"@signature-params\\": $params" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)`,
    !isByKeyPair && '    [[ $given == "$expected" ]] && return 0',
    isByKeyPair && `    printf %s "$lines\\"@signature-params\\": $params" >"$folder/signed"`,
    isByKeyPair && '    printf %s "$given" | openssl base64 -d -A >"$folder/signature"',
    isByKeyPair && verifyFiles,
    "  done",
    isByKeyPair && '  rm -r "$folder"',
    "  return 1",
    "}",
  );
};
