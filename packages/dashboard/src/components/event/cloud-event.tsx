// What an event brought along as a CloudEvent, by the names that its senders and receivers know.
import type { Event } from "@posthorn/client";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Fact, Facts, Panel } from "../ui/panel.tsx";

const texts = defineTexts({
  en: {
    title: "As it came, a CloudEvent",
    encoding: {
      text: "Text, not JSON.",
      base64: "Bytes, shown in base64.",
      none: "It came without data.",
    },
  },
  de: {
    title: "Wie es kam, ein CloudEvent",
    encoding: {
      text: "Text, kein JSON.",
      base64: "Bytes, in Base64 gezeigt.",
      none: "Es kam ohne Daten.",
    },
  },
});

type Attributes = NonNullable<Event["attributes"]>;

export function CloudEvent({ attributes }: { readonly attributes: Attributes }) {
  const t = useTexts(texts);
  const { extensions, encoding: _ofData, ...core } = attributes;
  return (
    <Panel title={t.title}>
      <Facts>
        {Object.entries({ ...core, ...extensions }).map(([name, value]) => (
          <Fact key={name} name={name}>
            <code className="font-mono text-xs break-all">{String(value)}</code>
          </Fact>
        ))}
      </Facts>
    </Panel>
  );
}

/** Why its data does not look like what was sent; nothing where it is JSON. */
export function EncodingHint({ attributes }: { readonly attributes: Attributes | null }) {
  const t = useTexts(texts);
  if (attributes?.encoding === undefined) return null;
  return <p className="pb-2 text-muted">{t.encoding[attributes.encoding]}</p>;
}
