import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class VerifyWebhook {
  /** body: the raw bytes, before any JSON parser. header: X-Webhook-Signature. */
  public static boolean isAuthentic(byte[] body, String header, String secret) throws GeneralSecurityException {
    String[] fields = header.split(",");
    String sentAt = "";
    for (String field : fields) if (field.startsWith("t=")) sentAt = field.substring(2);
    if (!sentAt.matches("\\d{1,12}")) return false;
    if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(sentAt)) > 300) return false;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    mac.update((sentAt + ".").getBytes(StandardCharsets.UTF_8));
    byte[] expected = HexFormat.of().formatHex(mac.doFinal(body)).getBytes(StandardCharsets.UTF_8);
    for (String field : fields) {
      if (!field.startsWith("v1=")) continue;
      if (MessageDigest.isEqual(field.substring(3).getBytes(StandardCharsets.UTF_8), expected)) return true;
    }
    return false;
  }
}
