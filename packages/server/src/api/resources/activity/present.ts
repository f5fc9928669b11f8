import type { Activity } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["activity"]["get"]>>;

/** Attempts over time as the API shows them. */
export function presentActivity({ period, stepSeconds, points, total }: Given): Sent<Activity> {
  const { successShare, ...counts } = total;
  return { period, step_seconds: stepSeconds, points, total: { ...counts, success_share: successShare } };
}
