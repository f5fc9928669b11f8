// Verifies in Java 17.
import { code, notesOf, shapeOf, signedIn, type Template, TOLERANCE_SECONDS } from "./snippet.ts";

export const java: Template = (facts) => {
  const { isToken, isByKeyPair, isHmac, needsId, needsUrl, ...shape } = shapeOf(facts);
  const { signaturePrefix: prefix, separator, encoding, digestParameter } = facts;
  const { timeFormat } = shape;
  const isBase64 = !isToken && (encoding === "base64" || facts.key === "base64" || isByKeyPair);
  const isHex = (!isToken && (encoding === "hex" || facts.key === "hex")) || digestParameter !== null;
  const header = (name: string) => `Objects.toString(header.apply("${name}"), "")`;
  const secret = isByKeyPair ? "publicKey" : "secret";
  const values = {
    id: "bytes(id)",
    timestamp: "bytes(timestamp)",
    body: "body",
    method: 'bytes("POST")',
    url: "bytes(url)",
  };
  const signed = signedIn(facts, values, (text) => `bytes(${JSON.stringify(text)})`);
  const given = prefix === "" ? "item" : `item.substring(${prefix.length})`;
  const mac = `Hmac${shape.hash.toUpperCase()}`;
  const encode = encoding === "hex" ? "HexFormat.of().formatHex" : "Base64.getEncoder().encodeToString";
  const decode = encoding === "hex" ? "HexFormat.of().parseHex" : "Base64.getDecoder().decode";
  return code(
    "import java.nio.charset.StandardCharsets;",
    "import java.security.GeneralSecurityException;",
    isByKeyPair && "import java.security.KeyFactory;",
    !isByKeyPair && "import java.security.MessageDigest;",
    isByKeyPair && "import java.security.PublicKey;",
    isByKeyPair && "import java.security.Signature;",
    isByKeyPair && "import java.security.spec.X509EncodedKeySpec;",
    timeFormat !== null && "import java.time.Instant;",
    timeFormat === "rfc3339" && "import java.time.format.DateTimeParseException;",
    isBase64 && "import java.util.Base64;",
    (isHex || isByKeyPair) && "import java.util.HexFormat;",
    "import java.util.Objects;",
    "import java.util.function.UnaryOperator;",
    isHmac && "import javax.crypto.Mac;",
    isHmac && "import javax.crypto.spec.SecretKeySpec;",
    "",
    "public final class VerifyWebhook {",
    "  /** header: returns a header by its name, such as request::getHeader. body: the raw bytes, before any JSON parser. */",
    ...notesOf(facts).map((note) => `  // ${note}`),
    `  public static boolean isAuthentic(UnaryOperator<String> header, byte[] body, String ${secret}${needsUrl ? ", String url" : ""})`,
    "      throws GeneralSecurityException {",
    isToken && `    return MessageDigest.isEqual(bytes(${header(facts.signatureHeader)}), bytes(secret));`,
    separator !== null && `    String[] items = ${header(facts.signatureHeader)}.split("${separator}");`,
    shape.timestampHeader !== null && `    String timestamp = ${header(shape.timestampHeader)};`,
    shape.timestampPrefix !== null && '    String timestamp = "";',
    shape.timestampPrefix !== null &&
      `    for (String item : items) if (item.startsWith("${shape.timestampPrefix}")) timestamp = item.substring(${shape.timestampPrefix.length});`,
    timeFormat === "seconds" && '    if (!timestamp.matches("\\\\d{1,12}")) return false;',
    timeFormat === "milliseconds" && '    if (!timestamp.matches("\\\\d{13}")) return false;',
    timeFormat === "seconds" && "    long sentAt = Long.parseLong(timestamp);",
    timeFormat === "milliseconds" && "    long sentAt = Long.parseLong(timestamp) / 1000;",
    timeFormat === "rfc3339" && "    long sentAt;",
    timeFormat === "rfc3339" && "    try {",
    timeFormat === "rfc3339" && "      sentAt = Instant.parse(timestamp).getEpochSecond();",
    timeFormat === "rfc3339" && "    } catch (DateTimeParseException e) {",
    timeFormat === "rfc3339" && "      return false;",
    timeFormat === "rfc3339" && "    }",
    timeFormat !== null &&
      `    if (Math.abs(Instant.now().getEpochSecond() - sentAt) > ${TOLERANCE_SECONDS}) return false;`,
    digestParameter !== null &&
      '    String digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));',
    digestParameter !== null && `    if (!url.contains("${digestParameter}=" + digest)) return false;`,
    needsId && `    String id = ${header(facts.idHeader ?? "")};`,
    isHmac && `    Mac mac = Mac.getInstance("${mac}");`,
    isHmac && `    mac.init(new SecretKeySpec(${sharedKey[facts.key]}, "${mac}"));`,
    ...(isHmac ? signed.map((part) => `    mac.update(${part});`) : []),
    isHmac && `    byte[] expected = bytes(${encode}(mac.doFinal()));`,
    ...(isByKeyPair ? verifyingKey : []),
    !isToken && "    for (String item : items) {",
    !isToken && prefix !== "" && `      if (!item.startsWith("${prefix}")) continue;`,
    isHmac && `      if (MessageDigest.isEqual(bytes(${given}), expected)) return true;`,
    isByKeyPair && '      Signature signature = Signature.getInstance("Ed25519");',
    isByKeyPair && "      signature.initVerify(verifying);",
    ...(isByKeyPair ? signed.map((part) => `      signature.update(${part});`) : []),
    isByKeyPair && "      try {",
    isByKeyPair && `        if (signature.verify(${decode}(${given}))) return true;`,
    isByKeyPair && "      } catch (GeneralSecurityException | IllegalArgumentException e) {",
    isByKeyPair && "        // not a signature",
    isByKeyPair && "      }",
    !isToken && "    }",
    !isToken && "    return false;",
    "  }",
    "",
    "  private static byte[] bytes(String text) {",
    "    return text.getBytes(StandardCharsets.UTF_8);",
    "  }",
    "}",
  );
};

/** By the encoding of the secret. */
export const sharedKey = {
  text: "bytes(secret)",
  hex: "HexFormat.of().parseHex(secret)",
  base64: 'Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""))',
  ed25519: "",
} as const;

export const verifyingKey = [
  '    String key = "302a300506032b6570032100" + HexFormat.of().formatHex(Base64.getDecoder().decode(publicKey.replaceFirst("^whpk_", "")));',
  '    PublicKey verifying = KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(HexFormat.of().parseHex(key)));',
] as const;
