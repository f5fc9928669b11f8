// A numbered step with a check mark when it is done.
import { type ReactNode, useId } from "react";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Icon } from "../ui/icons.tsx";

const texts = defineTexts({ en: { done: "done" }, de: { done: "erledigt" } });

export function Step({
  number,
  title,
  isDone,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}) {
  const t = useTexts(texts);
  const id = useId();
  return (
    <li aria-labelledby={id} className="min-w-0 rounded-lg border border-line bg-surface p-4">
      <div className="flex items-center gap-3">
        <span
          aria-hidden="true"
          className={`inline-flex size-8 shrink-0 items-center justify-center rounded-full font-semibold ${
            isDone ? "bg-ok-ground text-ok" : "border border-line text-muted"
          }`}
        >
          {isDone ? <Icon name="check" className="size-5" /> : number}
        </span>
        <h2 id={id} className="text-base font-semibold">
          {title}
          <span role="status" className="sr-only">
            {isDone && ` – ${t.done}`}
          </span>
        </h2>
      </div>
      <div className="flex flex-col gap-3 pt-3 sm:pl-11">{children}</div>
    </li>
  );
}
