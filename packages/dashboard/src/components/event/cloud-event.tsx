// The attributes of an event that was published as a CloudEvent.
import type { Event } from "@posthorn/client";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Fact, Facts, Panel } from "../ui/panel.tsx";

const texts = defineTexts({
  en: {
    title: "CloudEvent attributes",
    encoding: {
      text: "Text, not JSON.",
      base64: "Binary data, shown as base64.",
      none: "No data.",
    },
  },
  de: {
    title: "CloudEvent-Attribute",
    encoding: {
      text: "Text, kein JSON.",
      base64: "Binärdaten, als Base64 dargestellt.",
      none: "Keine Daten.",
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

/** The encoding of the data, unless it is JSON. */
export function EncodingHint({ attributes }: { readonly attributes: Attributes | null }) {
  const t = useTexts(texts);
  if (attributes?.encoding === undefined) return null;
  return <p className="pb-2 text-muted">{t.encoding[attributes.encoding]}</p>;
}
