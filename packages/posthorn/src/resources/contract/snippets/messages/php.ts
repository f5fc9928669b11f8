// Verifies HTTP Message Signatures in PHP 8; Ed25519 needs the extension sodium, which PHP includes.
import { keyLine } from "../php.ts";
import { code, TOLERANCE_SECONDS } from "../snippet.ts";
import { coveredHeaders, type MessageTemplate } from "./message.ts";

export const php: MessageTemplate = (key) => {
  const isByKeyPair = key === "ed25519";
  return code(
    "<?php",
    "",
    "/** $headers: with lower-case names. $body: the raw bytes, from file_get_contents('php://input'). $url: as the sender addressed you. */",
    `function is_authentic(array $headers, string $body, string ${isByKeyPair ? "$publicKey" : "$secret"}, string $url): bool`,
    "{",
    "    $timestamp = $headers['webhook-timestamp'] ?? '';",
    `    if (!preg_match('/^\\d{1,12}$/D', $timestamp) || abs(time() - (int) $timestamp) > ${TOLERANCE_SECONDS}) {`,
    "        return false;",
    "    }",
    "    $digest = base64_encode(hash('sha256', $body, true));",
    "    if (($headers['content-digest'] ?? '') !== \"sha-256=:$digest:\") {",
    "        return false;",
    "    }",
    '    $covered = \'("@method" "@target-uri"\';',
    '    $lines = "\\"@method\\": POST\\n\\"@target-uri\\": $url\\n";',
    `    foreach ([${coveredHeaders.map((name) => `'${name}'`).join(", ")}] as $name) {`,
    "        if (isset($headers[$name])) {",
    '            $covered .= " \\"$name\\"";',
    '            $lines .= "\\"$name\\": $headers[$name]\\n";',
    "        }",
    "    }",
    `    ${keyLine[key].trim()}`,
    "    $inputs = explode(', ', $headers['signature-input'] ?? '');",
    "    foreach (explode(', ', $headers['signature'] ?? '') as $index => $item) {",
    "        $params = preg_replace('/^sig\\d+=/', '', $inputs[$index] ?? '');",
    "        $given = preg_replace('/^sig\\d+=:|:$/', '', $item);",
    '        if (!str_starts_with($params, "$covered);")) {',
    "            continue;",
    "        }",
    '        $signed = "$lines\\"@signature-params\\": $params";',
    isByKeyPair && "        $given = base64_decode($given, true);",
    isByKeyPair
      ? "        if (is_string($given) && strlen($given) === 64 && sodium_crypto_sign_verify_detached($given, $signed, $key)) {"
      : "        if (hash_equals(base64_encode(hash_hmac('sha256', $signed, $key, true)), $given)) {",
    "            return true;",
    "        }",
    "    }",
    "    return false;",
    "}",
  );
};
