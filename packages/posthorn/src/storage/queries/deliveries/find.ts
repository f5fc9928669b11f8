import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type DeliveryRow, deliveryColumns } from "./delivery-row.ts";

export async function findDeliveries(db: Queryable, ids: readonly Uuid[]): Promise<DeliveryRow[]> {
  return await db.query<DeliveryRow>(findStatement, [uuidArray(ids)]);
}

const findStatement = statement(
  "find deliveries",
  `
select ${deliveryColumns}
from posthorn.delivery_states d
join posthorn.events e on e.id = d.event_id
where d.id = any ($1::uuid[])
order by d.id
`,
);
