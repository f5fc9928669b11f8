// Verifies in PHP 8; Ed25519 needs the extension sodium, which PHP includes.
import { code, notesOf, shapeOf, signedIn, type Template, TOLERANCE_SECONDS } from "./snippet.ts";

export const php: Template = (facts) => {
  const { isToken, isByKeyPair, isHmac, needsId, needsUrl, ...shape } = shapeOf(facts);
  const { signaturePrefix: prefix, separator, encoding, digestParameter } = facts;
  const { timeFormat } = shape;
  const header = (name: string) => `$headers['${name.toLowerCase()}'] ?? ''`;
  const secret = isByKeyPair ? "$publicKey" : "$secret";
  const values = { id: "$id", timestamp: "$timestamp", body: "$body", method: "'POST'", url: "$url" };
  const signed = signedIn(facts, values, (text) => `'${text}'`);
  const given = prefix === "" ? "$item" : `substr($item, ${prefix.length})`;
  return code(
    "<?php",
    "",
    "/** $headers: with lower-case names. $body: the raw bytes, from file_get_contents('php://input'). */",
    ...notesOf(facts).map((note) => `// ${note}`),
    `function is_authentic(array $headers, string $body, string ${secret}${needsUrl ? ", string $url" : ""}): bool`,
    "{",
    isToken && `    return hash_equals($secret, ${header(facts.signatureHeader)});`,
    separator !== null && `    $items = explode('${separator}', ${header(facts.signatureHeader)});`,
    shape.timestampHeader !== null && `    $timestamp = ${header(shape.timestampHeader)};`,
    shape.timestampPrefix !== null && "    $timestamp = '';",
    shape.timestampPrefix !== null && "    foreach ($items as $item) {",
    shape.timestampPrefix !== null && `        if (str_starts_with($item, '${shape.timestampPrefix}')) {`,
    shape.timestampPrefix !== null &&
      `            $timestamp = substr($item, ${shape.timestampPrefix.length});`,
    shape.timestampPrefix !== null && "        }",
    shape.timestampPrefix !== null && "    }",
    timeFormat === "rfc3339" && "    $sentAt = strtotime($timestamp);",
    timeFormat === "milliseconds" &&
      "    $sentAt = preg_match('/^\\d{13}$/D', $timestamp) ? (int) $timestamp / 1000 : false;",
    timeFormat === "seconds" &&
      "    $sentAt = preg_match('/^\\d{1,12}$/D', $timestamp) ? (int) $timestamp : false;",
    timeFormat !== null && `    if ($sentAt === false || abs(time() - $sentAt) > ${TOLERANCE_SECONDS}) {`,
    timeFormat !== null && "        return false;",
    timeFormat !== null && "    }",
    digestParameter !== null &&
      `    if (!str_contains($url, '${digestParameter}=' . hash('sha256', $body))) {`,
    digestParameter !== null && "        return false;",
    digestParameter !== null && "    }",
    needsId && `    $id = ${header(facts.idHeader ?? "")};`,
    !isToken && `    $signed = ${signed.join(" . ")};`,
    !isToken && keyLine[facts.key],
    isHmac &&
      (encoding === "hex"
        ? `    $expected = hash_hmac('${shape.hash}', $signed, $key);`
        : `    $expected = base64_encode(hash_hmac('${shape.hash}', $signed, $key, true));`),
    !isToken && "    foreach ($items as $item) {",
    !isToken && prefix !== "" && `        if (!str_starts_with($item, '${prefix}')) {`,
    !isToken && prefix !== "" && "            continue;",
    !isToken && prefix !== "" && "        }",
    isHmac && `        if (hash_equals($expected, ${given})) {`,
    isByKeyPair &&
      `        $given = ${encoding === "hex" ? `@hex2bin(${given})` : `base64_decode(${given}, true)`};`,
    isByKeyPair &&
      "        if (is_string($given) && strlen($given) === 64 && sodium_crypto_sign_verify_detached($given, $signed, $key)) {",
    !isToken && "            return true;",
    !isToken && "        }",
    !isToken && "    }",
    !isToken && "    return false;",
    "}",
  );
};

/** By the encoding of the secret. */
export const keyLine = {
  text: "    $key = $secret;",
  hex: "    $key = hex2bin($secret);",
  base64: "    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));",
  ed25519: "    $key = base64_decode(preg_replace('/^whpk_/', '', $publicKey));",
} as const;
