// How a receiver verifies a delivery, in six languages. They are whole files that tests run against a real delivery.
import java from "./VerifyWebhook.java?raw";
import go from "./verify_webhook.go?raw";
import python from "./verify_webhook.py?raw";
import ruby from "./verify_webhook.rb?raw";
import php from "./verify-webhook.php?raw";
import typescript from "./verify-webhook.ts?raw";

export const SNIPPETS = {
  TypeScript: typescript,
  Python: python,
  Go: go,
  Ruby: ruby,
  PHP: php,
  Java: java,
} as const;
export type SnippetLanguage = keyof typeof SNIPPETS;
