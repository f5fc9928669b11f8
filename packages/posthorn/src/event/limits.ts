// Limits of an event. The SQL function posthorn.publish checks the same, except for the reserved tenant and the two
// ids that a URL cannot contain.
export const maxPayloadBytes = 256 * 1024;
export const maxDepth = 64;
/** A URL normalises `.` and `..`, also as `%2e`: no client could address such a tenant. */
export const tenantSyntax = /^(?!\.{1,2}$)[A-Za-z0-9_.:@-]{1,128}$/;
export const tenantSyntaxInWords = "1 to 128 characters of A-Z a-z 0-9 _ . : @ -, other than . and ..";
/** Posthorn's own tenant: it owns subscriptions to external topics and the events with their content. */
export const reservedTenant = "posthorn.websub";
export const reservedTenantInWords = `"${reservedTenant}" is reserved for Posthorn. Choose another id.`;
export const typeSyntax = /^[a-z0-9_]+(\.[a-z0-9_]+)*$/;
export const maxTypeLength = 128;
export const apiVersionSyntax = /^[A-Za-z0-9_.-]{1,32}$/;
export const apiVersionSyntaxInWords = "1 to 32 characters of A-Z a-z 0-9 _ . -";
/** Of events that name none, unless the deployment has another default. */
export const DEFAULT_API_VERSION = "1";
export const maxSubjectLength = 256;
export const maxIdempotencyKeyLength = 256;
/** As JSON and as headers in binary mode: many receivers accept 16 KB of headers, and the subject occurs twice. */
export const maxAttributesBytes = 8 * 1024;
