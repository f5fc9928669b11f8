// Parts that the templates for HTTP Message Signatures share. Posthorn covers the same components in every request, so the
// code needs no general RFC 9421 library.
import { messageComponents } from "@posthorn/wire";
import type { SchemeFacts } from "../../scheme-facts.ts";

/** Returns the code that verifies requests with a key of this kind. */
export type MessageTemplate = (key: SchemeFacts["key"]) => string;

/** The covered headers, in their order after `@method` and `@target-uri`. Only the content type may be missing. */
export const coveredHeaders: readonly string[] = messageComponents.filter((name) => !name.startsWith("@"));

/** As a list of quoted names. */
export const quotedHeaders = coveredHeaders.map((name) => `"${name}"`).join(", ");
