// Lets go of every subject of an endpoint that a dead delivery held up. The caller holds the endpoint's row, and the
// lane's owner is told of the change: it looks whose turn it is.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function releaseHeldSubjects(tx: Queryable, endpointId: Uuid): Promise<void> {
  await tx.query(letGoStatement, [endpointId]);
}

const letGoStatement = statement(
  "let go of subjects",
  "delete from posthorn.held_subjects where endpoint_id = $1::uuid",
);
