// The success rate, which every place shows by this definition: API, command line, dashboard and portal.

export interface AttemptCounts {
  readonly success: number;
  /** Attempts that are retried. */
  readonly failed: number;
  /** Attempts after which the delivery became dead. */
  readonly dead: number;
}

/** Returns the share of the attempts that succeeded, from 0 to 1, or null without attempts. */
export function successRate({ success, failed, dead }: AttemptCounts): number | null {
  const attempts = success + failed + dead;
  return attempts === 0 ? null : success / attempts;
}
