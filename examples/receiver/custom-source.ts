// A sender that no preset describes: a token instead of a signature, and several events in a request.
import { createHash, timingSafeEqual } from "node:crypto";
import { createReceiver, memoryStore, readHeader, type Source } from "@posthorn/receiver";

interface Reading {
  readonly meter: string;
  readonly at: string;
}

const digestOf = (text: string) => createHash("sha256").update(text).digest();
const expected = digestOf(`Bearer ${process.env.METER_TOKEN}`);

export const meters: Source = {
  name: "meters",
  parsedHeaders: [],
  hasStableBody: true,
  matches: (headers) => readHeader(headers, "x-meter-batch") !== null,

  async authenticate({ headers }) {
    const given = digestOf(readHeader(headers, "authorization") ?? "");
    return timingSafeEqual(given, expected)
      ? { ok: true, signedId: null }
      : { ok: false, reason: "no_match" };
  },

  parse({ body }) {
    const readings: unknown = JSON.parse(new TextDecoder().decode(body));
    if (!Array.isArray(readings)) return { kind: "malformed", reason: "The body is not a list of readings." };
    return { kind: "events", events: readings.map(eventOf) };
  },
};

function eventOf(reading: Reading) {
  return {
    id: `${reading.meter} ${reading.at}`,
    type: "meter.read",
    subject: null,
    sequence: null,
    createdAt: new Date(reading.at),
    data: reading,
    payload: reading,
    // what is stored of this event, to parse it again from the inbox
    standalone: { headers: {}, body: new TextEncoder().encode(JSON.stringify([reading])) },
  };
}

export const receiver = createReceiver({ sources: [meters], store: memoryStore() });
receiver.on("meter.read", (event) => console.log(`${event.id} was read`));
