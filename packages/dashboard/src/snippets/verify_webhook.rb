require "openssl"

# body: the raw bytes, before any JSON parser. header: X-Webhook-Signature.
def authentic?(body, header, secret)
  fields = header.split(",").map { |field| field.split("=", 2) }
  sent_at = fields.assoc("t")&.last.to_s
  return false unless sent_at.match?(/\A\d{1,12}\z/) && (Time.now.to_i - sent_at.to_i).abs <= 300

  expected = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{sent_at}.".b + body.b)
  fields.any? { |name, value| name == "v1" && OpenSSL.secure_compare(value.to_s, expected) }
end
