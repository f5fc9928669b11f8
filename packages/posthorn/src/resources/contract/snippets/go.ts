// Verifies in Go with the standard library.
import { code, notesOf, shapeOf, signedIn, type Template, TOLERANCE_SECONDS } from "./snippet.ts";

export const go: Template = (facts) => {
  const { isToken, isByKeyPair, isHmac, needsId, needsUrl, ...shape } = shapeOf(facts);
  const { signatureHeader, signaturePrefix: prefix, separator, encoding, digestParameter } = facts;
  const { timeFormat } = shape;
  const isBase64 = !isToken && (encoding === "base64" || facts.key === "base64" || isByKeyPair);
  const isHex = !isToken && (encoding === "hex" || facts.key === "hex" || digestParameter !== null);
  const imports = [
    !isToken && "bytes",
    isByKeyPair && "crypto/ed25519",
    !isByKeyPair && "crypto/hmac",
    isHmac && shape.hash === "sha1" && "crypto/sha1",
    ((isHmac && shape.hash === "sha256") || digestParameter !== null) && "crypto/sha256",
    isHmac && shape.hash === "sha512" && "crypto/sha512",
    isBase64 && "encoding/base64",
    isHex && "encoding/hex",
    timeFormat !== null && "math",
    "net/http",
    (timeFormat === "seconds" || timeFormat === "milliseconds") && "strconv",
    (!isToken || digestParameter !== null) && "strings",
    timeFormat !== null && "time",
  ].filter((name) => name !== false);
  const secret = isByKeyPair ? "publicKey" : "secret";
  const values = {
    id: "[]byte(id)",
    timestamp: "[]byte(timestamp)",
    body: "body",
    method: '[]byte("POST")',
    url: "[]byte(url)",
  };
  const signed = signedIn(facts, values, (text) => `[]byte(${JSON.stringify(text)})`);
  const decode = encoding === "hex" ? "hex.DecodeString" : "base64.StdEncoding.DecodeString";
  const isMatch = isByKeyPair ? "ed25519.Verify(key, signed, given)" : "hmac.Equal(given, expected)";
  return code(
    "package webhook",
    "",
    "import (",
    ...imports.map((name) => `\t"${name}"`),
    ")",
    "",
    "// IsAuthentic takes the raw bytes of the body, before any JSON parser.",
    ...notesOf(facts).map((note) => `// ${note}`),
    `func IsAuthentic(headers http.Header, body []byte, ${secret} string${needsUrl ? ", url string" : ""}) bool {`,
    isToken && `\treturn hmac.Equal([]byte(headers.Get("${signatureHeader}")), []byte(secret))`,
    separator !== null && `\titems := strings.Split(headers.Get("${signatureHeader}"), "${separator}")`,
    shape.timestampHeader !== null && `\ttimestamp := headers.Get("${shape.timestampHeader}")`,
    shape.timestampPrefix !== null && '\ttimestamp := ""',
    shape.timestampPrefix !== null && "\tfor _, item := range items {",
    shape.timestampPrefix !== null && `\t\tif strings.HasPrefix(item, "${shape.timestampPrefix}") {`,
    shape.timestampPrefix !== null && `\t\t\ttimestamp = item[${shape.timestampPrefix.length}:]`,
    shape.timestampPrefix !== null && "\t\t}",
    shape.timestampPrefix !== null && "\t}",
    timeFormat === "rfc3339" && "\tsentAt, err := time.Parse(time.RFC3339Nano, timestamp)",
    timeFormat === "rfc3339" &&
      `\tif err != nil || math.Abs(time.Since(sentAt).Seconds()) > ${TOLERANCE_SECONDS} {`,
    timeFormat === "milliseconds" && "\tsentAt, err := strconv.ParseInt(timestamp, 10, 64)",
    timeFormat === "milliseconds" &&
      `\tif err != nil || math.Abs(float64(time.Now().UnixMilli()-sentAt)) > ${TOLERANCE_SECONDS * 1000} {`,
    timeFormat === "seconds" && "\tsentAt, err := strconv.ParseInt(timestamp, 10, 64)",
    timeFormat === "seconds" &&
      `\tif err != nil || math.Abs(float64(time.Now().Unix()-sentAt)) > ${TOLERANCE_SECONDS} {`,
    timeFormat !== null && "\t\treturn false",
    timeFormat !== null && "\t}",
    digestParameter !== null && "\tdigest := sha256.Sum256(body)",
    digestParameter !== null &&
      `\tif !strings.Contains(url, "${digestParameter}="+hex.EncodeToString(digest[:])) {`,
    digestParameter !== null && "\t\treturn false",
    digestParameter !== null && "\t}",
    needsId && `\tid := headers.Get("${facts.idHeader}")`,
    !isToken && `\tsigned := bytes.Join([][]byte{${signed.join(", ")}}, nil)`,
    ...(isToken ? [] : keyLines[facts.key]),
    isHmac && `\tmac := hmac.New(${shape.hash}.New, key)`,
    isHmac && "\tmac.Write(signed)",
    isHmac && "\texpected := mac.Sum(nil)",
    !isToken && "\tfor _, item := range items {",
    !isToken && prefix !== "" && `\t\tif !strings.HasPrefix(item, "${prefix}") {`,
    !isToken && prefix !== "" && "\t\t\tcontinue",
    !isToken && prefix !== "" && "\t\t}",
    !isToken && `\t\tgiven, err := ${decode}(${prefix === "" ? "item" : `item[${prefix.length}:]`})`,
    !isToken && `\t\tif err == nil && ${isMatch} {`,
    !isToken && "\t\t\treturn true",
    !isToken && "\t\t}",
    !isToken && "\t}",
    !isToken && "\treturn false",
    "}",
  );
};

/** By the encoding of the secret. */
export const keyLines = {
  text: ["\tkey := []byte(secret)"],
  hex: [
    "\tkey, err := hex.DecodeString(secret)",
    "\tif err != nil || len(key) == 0 {",
    "\t\treturn false",
    "\t}",
  ],
  base64: [
    '\tkey, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))',
    "\tif err != nil || len(key) == 0 {",
    "\t\treturn false",
    "\t}",
  ],
  ed25519: [
    '\tkey, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(publicKey, "whpk_"))',
    "\tif err != nil || len(key) != ed25519.PublicKeySize {",
    "\t\treturn false",
    "\t}",
  ],
} as const;
