// Verifies HTTP Message Signatures in Go with the standard library.
import { keyLines } from "../go.ts";
import { code, TOLERANCE_SECONDS } from "../snippet.ts";
import { type MessageTemplate, quotedHeaders } from "./message.ts";

export const go: MessageTemplate = (key) => {
  const isByKeyPair = key === "ed25519";
  const imports = [
    isByKeyPair && "crypto/ed25519",
    !isByKeyPair && "crypto/hmac",
    "crypto/sha256",
    "encoding/base64",
    key === "hex" && "encoding/hex",
    "math",
    "net/http",
    "strconv",
    "strings",
    "time",
  ].filter((name) => name !== false);
  const secret = isByKeyPair ? "publicKey" : "secret";
  return code(
    "package webhook",
    "",
    "import (",
    ...imports.map((name) => `\t"${name}"`),
    ")",
    "",
    "// IsAuthentic takes the raw bytes of the body, before any JSON parser, and the URL as the sender addressed you.",
    `func IsAuthentic(headers http.Header, body []byte, ${secret} string, url string) bool {`,
    '\ttimestamp := headers.Get("webhook-timestamp")',
    "\tsentAt, err := strconv.ParseInt(timestamp, 10, 64)",
    `\tif err != nil || math.Abs(float64(time.Now().Unix()-sentAt)) > ${TOLERANCE_SECONDS} {`,
    "\t\treturn false",
    "\t}",
    "\tdigest := sha256.Sum256(body)",
    '\tif headers.Get("Content-Digest") != "sha-256=:"+base64.StdEncoding.EncodeToString(digest[:])+":" {',
    "\t\treturn false",
    "\t}",
    '\tcovered := `("@method" "@target-uri"`',
    '\tlines := "\\"@method\\": POST\\n\\"@target-uri\\": " + url + "\\n"',
    `\tfor _, name := range []string{${quotedHeaders}} {`,
    '\t\tif value := headers.Get(name); value != "" {',
    '\t\t\tcovered += ` "` + name + `"`',
    '\t\t\tlines += `"` + name + `": ` + value + "\\n"',
    "\t\t}",
    "\t}",
    ...keyLines[key],
    '\tinputs := strings.Split(headers.Get("Signature-Input"), ", ")',
    '\tfor index, item := range strings.Split(headers.Get("Signature"), ", ") {',
    "\t\tif index >= len(inputs) {",
    "\t\t\tbreak",
    "\t\t}",
    '\t\t_, params, _ := strings.Cut(inputs[index], "=")',
    '\t\t_, encoded, _ := strings.Cut(item, "=")',
    '\t\tgiven, err := base64.StdEncoding.DecodeString(strings.Trim(encoded, ":"))',
    '\t\tif err != nil || !strings.HasPrefix(params, covered+");") {',
    "\t\t\tcontinue",
    "\t\t}",
    '\t\tsigned := []byte(lines + `"@signature-params": ` + params)',
    !isByKeyPair && "\t\tmac := hmac.New(sha256.New, key)",
    !isByKeyPair && "\t\tmac.Write(signed)",
    isByKeyPair ? "\t\tif ed25519.Verify(key, signed, given) {" : "\t\tif hmac.Equal(given, mac.Sum(nil)) {",
    "\t\t\treturn true",
    "\t\t}",
    "\t}",
    "\treturn false",
    "}",
  );
};
