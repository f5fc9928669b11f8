// Verifies in Ruby with its openssl library.
import { code, notesOf, shapeOf, signedIn, type Template, TOLERANCE_SECONDS } from "./snippet.ts";

export const ruby: Template = (facts) => {
  const { isToken, isByKeyPair, isHmac, needsId, needsUrl, ...shape } = shapeOf(facts);
  const { signaturePrefix: prefix, separator, encoding, digestParameter } = facts;
  const { timeFormat } = shape;
  const header = (name: string) => `headers.fetch("${name.toLowerCase()}", "")`;
  const secret = isByKeyPair ? "public_key" : "secret";
  const values = {
    id: "id.b",
    timestamp: "timestamp.b",
    body: "body.b",
    method: '"POST".b',
    url: "url.b",
  };
  const signed = signedIn(facts, values, (text) => `${JSON.stringify(text)}.b`);
  const given = prefix === "" ? "item" : `item.delete_prefix("${prefix}")`;
  const condition = prefix === "" ? "" : `item.start_with?("${prefix}") && `;
  const hash = shape.hash.toUpperCase();
  return code(
    'require "openssl"',
    timeFormat === "rfc3339" && 'require "time"',
    "",
    "# headers: a hash with lower-case names. body: the raw bytes, before any JSON parser.",
    ...notesOf(facts).map((note) => `# ${note}`),
    `def authentic?(headers, body, ${secret}${needsUrl ? ", url" : ""})`,
    isToken && `  OpenSSL.secure_compare(${header(facts.signatureHeader)}, secret)`,
    separator !== null && `  items = ${header(facts.signatureHeader)}.split("${separator}")`,
    shape.timestampHeader !== null && `  timestamp = ${header(shape.timestampHeader)}`,
    shape.timestampPrefix !== null &&
      `  timestamp = items.find { |item| item.start_with?("${shape.timestampPrefix}") }.to_s.delete_prefix("${shape.timestampPrefix}")`,
    timeFormat === "seconds" && "  return false unless timestamp.match?(/\\A\\d{1,12}\\z/)",
    timeFormat === "milliseconds" && "  return false unless timestamp.match?(/\\A\\d{13}\\z/)",
    timeFormat === "rfc3339" &&
      "  return false unless timestamp.match?(/\\A\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z\\z/)",
    timeFormat === "seconds" &&
      `  return false if (Time.now.to_f - timestamp.to_i).abs > ${TOLERANCE_SECONDS}`,
    timeFormat === "milliseconds" &&
      `  return false if (Time.now.to_f - timestamp.to_i / 1000.0).abs > ${TOLERANCE_SECONDS}`,
    timeFormat === "rfc3339" &&
      `  return false if (Time.now - Time.iso8601(timestamp)).abs > ${TOLERANCE_SECONDS}`,
    digestParameter !== null &&
      `  return false unless url.include?("${digestParameter}=#{OpenSSL::Digest::SHA256.hexdigest(body)}")`,
    needsId && `  id = ${header(facts.idHeader ?? "")}`,
    !isToken && "",
    !isToken && `  signed = ${signed.join(" + ")}`,
    ...(isHmac ? keyLines[facts.key] : []),
    isHmac &&
      (encoding === "hex"
        ? `  expected = OpenSSL::HMAC.hexdigest("${hash}", key, signed)`
        : `  expected = [OpenSSL::HMAC.digest("${hash}", key, signed)].pack("m0")`),
    isHmac && `  items.any? { |item| ${condition}OpenSSL.secure_compare(${given}, expected) }`,
    ...(isByKeyPair ? keyLines.ed25519 : []),
    isByKeyPair && "  items.any? do |item|",
    isByKeyPair &&
      `    signature = ${encoding === "hex" ? `[${given}].pack("H*")` : `${given}.unpack1("m")`}`,
    isByKeyPair && `    ${condition}signature.bytesize == 64 && key.verify(nil, signature, signed)`,
    isByKeyPair && "  end",
    "end",
  );
};

/** By the encoding of the secret. */
export const keyLines = {
  text: ["  key = secret"],
  hex: ['  key = [secret].pack("H*")'],
  base64: ['  key = secret.delete_prefix("whsec_").unpack1("m")'],
  ed25519: [
    '  der = ["302a300506032b6570032100"].pack("H*") + public_key.delete_prefix("whpk_").unpack1("m")',
    "  key = OpenSSL::PKey.read(der)",
  ],
} as const;
