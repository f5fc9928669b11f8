// Verifies HTTP Message Signatures in Ruby with its openssl library.
import { keyLines } from "../ruby.ts";
import { code, TOLERANCE_SECONDS } from "../snippet.ts";
import { type MessageTemplate, quotedHeaders } from "./message.ts";

export const ruby: MessageTemplate = (key) => {
  const isByKeyPair = key === "ed25519";
  return code(
    'require "openssl"',
    "",
    "# headers: a hash with lower-case names. body: the raw bytes, before any JSON parser. url: as the sender addressed you.",
    `def authentic?(headers, body, ${isByKeyPair ? "public_key" : "secret"}, url)`,
    '  timestamp = headers.fetch("webhook-timestamp", "")',
    "  return false unless timestamp.match?(/\\A\\d{1,12}\\z/)",
    `  return false if (Time.now.to_f - timestamp.to_i).abs > ${TOLERANCE_SECONDS}`,
    '  digest = [OpenSSL::Digest::SHA256.digest(body)].pack("m0")',
    '  return false unless headers["content-digest"] == "sha-256=:#{digest}:"',
    "",
    '  components = { "@method" => "POST", "@target-uri" => url }',
    `    .merge(headers.slice(${quotedHeaders}))`,
    '  covered = "(#{components.keys.map { |name| "\\"#{name}\\"" }.join(" ")});"',
    '  lines = components.map { |name, value| "\\"#{name}\\": #{value}\\n" }.join',
    ...keyLines[key],
    '  inputs = headers.fetch("signature-input", "").split(", ")',
    '  headers.fetch("signature", "").split(", ").zip(inputs).any? do |item, input|',
    '    params = input.to_s.sub(/\\Asig\\d+=/, "")',
    '    given = item.sub(/\\Asig\\d+=:/, "").chomp(":")',
    '    signed = "#{lines}\\"@signature-params\\": #{params}"',
    "    next false unless params.start_with?(covered)",
    "",
    isByKeyPair && '    signature = given.unpack1("m")',
    isByKeyPair
      ? "    signature.bytesize == 64 && key.verify(nil, signature, signed)"
      : '    OpenSSL.secure_compare(given, [OpenSSL::HMAC.digest("SHA256", key, signed)].pack("m0"))',
    "  end",
    "end",
  );
};
