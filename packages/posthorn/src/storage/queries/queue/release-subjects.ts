// Releases every held subject of an endpoint. The caller holds the endpoint's row and notifies the lane's owner, which
// promotes the next deliveries.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function releaseHeldSubjects(tx: Queryable, endpointId: Uuid): Promise<void> {
  await tx.query(releaseStatement, [endpointId]);
}

const releaseStatement = statement(
  "release subjects",
  "delete from posthorn.held_subjects where endpoint_id = $1::uuid",
);
