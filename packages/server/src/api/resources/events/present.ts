// Events as JSON text. `data` is sent with the exact bytes that were published, so it cannot pass through JSON.stringify.
import { contract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { JsonText } from "../../implement.ts";
import { present } from "../../present.ts";

type EventDetail = Awaited<ReturnType<Posthorn["events"]["get"]>>;
type EventPage = Awaited<ReturnType<Posthorn["events"]["list"]>>;

const detailSchema = contract.events.get.response.schema.omit({ data: true });
const eventSchema = contract.events.list.response.schema.shape.data.element.omit({ data: true });

export function eventPageJson({ data, nextCursor }: EventPage, { omitsData = false } = {}): JsonText {
  const items = data.map((event) => {
    const fields = present(eventSchema, event);
    return omitsData ? JSON.stringify(fields) : withData(fields, event);
  });
  return new JsonText(`{"data":[${items.join(",")}],"next_cursor":${JSON.stringify(nextCursor)}}`);
}

export function eventDetailJson(event: EventDetail): JsonText {
  return new JsonText(withData(present(detailSchema, event), event));
}

function withData(fields: object, { payload }: Pick<EventDetail, "payload">): string {
  return `${JSON.stringify(fields).slice(0, -1)},"data":${payload}}`;
}
