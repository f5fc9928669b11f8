// The body of a request or response: JSON is formatted, and the exact bytes can be shown. Copies the exact bytes.
import { useMemo, useState } from "react";
import { defineTexts } from "../../app/texts.ts";
import { formatJson } from "../../format/format-json.ts";
import { Button } from "./button.tsx";
import { CodeView } from "./json-view.tsx";

const t = defineTexts({
  exact: ["Show exact bytes", "Exakte Bytes anzeigen"],
  formatted: ["Show formatted", "Formatiert anzeigen"],
});

export function BodyView({ text, label }: { readonly text: string; readonly label: string }) {
  const [isExact, setExact] = useState(false);
  const formatted = useMemo(() => formatJson(text), [text]);
  return (
    <div className="flex min-w-0 flex-col items-start gap-1">
      <div className="w-full">
        <CodeView
          label={label}
          text={isExact || formatted === null ? text : formatted}
          copied={text}
          isJson={formatted !== null}
          wraps={formatted === null}
        />
      </div>
      {formatted !== null && formatted !== text && (
        <Button kind="quiet" aria-pressed={isExact} onClick={() => setExact(!isExact)}>
          {isExact ? t.formatted : t.exact}
        </Button>
      )}
    </div>
  );
}
