// Example code that verifies a delivery: for t-v1 in six languages without a library, for other schemes with ours. Tests
// run each file against a real delivery.
import java from "./VerifyWebhook.java?raw";
import go from "./verify_webhook.go?raw";
import python from "./verify_webhook.py?raw";
import ruby from "./verify_webhook.rb?raw";
import byScheme from "./verify-by-scheme.ts?raw";
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

/** The scheme in the file. */
const WRITTEN_FOR = '"standard-webhooks"';

export function snippetFor(scheme: string): string {
  return byScheme.replace(WRITTEN_FOR, () => JSON.stringify(scheme));
}
