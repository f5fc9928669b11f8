// Classifies failures of statements. Does not import the driver, so that a command can load this before it.

/** Whether the database was unreachable, read-only, full or overloaded. */
export function isUnavailable(error: unknown): boolean {
  const { code, message, severity } = (error ?? {}) as { code?: string; message?: string; severity?: string };
  if (code !== undefined && unavailableCodes.test(code)) return true;
  // an internal error that ended the connection, for example because the disk is full
  if (code === "XX000" && (severity === "FATAL" || severity === "PANIC")) return true;
  return message !== undefined && unavailableMessages.test(message);
}

/** Whether two transactions conflicted; the statement may be retried. */
export function isConflict(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "40001" || code === "40P01" || isLockTimeout(error);
}

/** Whether waiting for a lock timed out. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === "55P03";
}

/** Whether the schema, or a table or function in it, does not exist. */
export function isSchemaMissing(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: string };
  return code === "3F000" || code === "42P01" || code === "42883";
}

/** Whether a unique constraint was violated. */
export function isDuplicate(error: unknown): boolean {
  return (error as { code?: string }).code === "23505";
}

// 08 connection, 25006 read-only, 25P03 idle in transaction, 53 resources (disk full, too many connections), 57P0x
// shutdown and restart, 58 system, XX000 "cannot … during recovery"; then codes of the operating system, the driver and
// this file.
const unavailableCodes =
  /^(08...|25006|25P03|53...|57014|57P0[1-5]|58...|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|database_unavailable)$/;
const unavailableMessages =
  /Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|not queryable|after calling end on the pool|connection is closed|server closed the connection|the database system is (starting up|shutting down|in recovery)/i;
