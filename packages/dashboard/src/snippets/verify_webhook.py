import hashlib
import hmac
import time


def is_authentic(body: bytes, header: str, secret: str) -> bool:
    """body: the raw bytes, before any JSON parser. header: X-Webhook-Signature."""
    fields = [field.split("=", 1) for field in header.split(",") if "=" in field]
    sent_at = next((value for name, value in fields if name == "t"), "")
    if not (sent_at.isascii() and sent_at.isdigit()) or abs(time.time() - int(sent_at)) > 300:
        return False
    expected = hmac.new(secret.encode(), sent_at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(name == "v1" and hmac.compare_digest(value.encode(), expected.encode()) for name, value in fields)
