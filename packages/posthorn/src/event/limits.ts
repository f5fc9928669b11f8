// What an event may be. The SQL function posthorn.publish checks the same, but for the hub's tenant and the two names that no URL can hold.
export const maxPayloadBytes = 256 * 1024;
export const maxDepth = 64;
/** A URL takes `.` and `..` for steps, also when they are written `%2e`: no client could ask for such a tenant. */
export const tenantSyntax = /^(?!\.{1,2}$)[A-Za-z0-9_.:@-]{1,128}$/;
export const tenantSyntaxInWords = "1 to 128 characters of A-Z a-z 0-9 _ . : @ -, other than . and ..";
/** The WebSub hub's own: it owns the subscriptions to topics of others, and the events that are made of their content. */
export const hubTenant = "posthorn.websub";
export const hubTenantInWords = `"${hubTenant}" is the WebSub hub's own. Choose another id.`;
export const typeSyntax = /^[a-z0-9_]+(\.[a-z0-9_]+)*$/;
export const maxTypeLength = 128;
export const apiVersionSyntax = /^[A-Za-z0-9_.-]{1,32}$/;
export const maxSubjectLength = 256;
export const maxIdempotencyKeyLength = 256;
/** As JSON, and as headers, which they are in binary mode: many receivers take 16 KB of those, and a subject is there twice. */
export const maxAttributesBytes = 8 * 1024;
