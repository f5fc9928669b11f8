import { onTestFinished } from "vitest";

/** A promise that the test fulfils with `open`; fulfilled at the end of the test at the latest. */
export function gate<Value = void>(value?: Value): { opened: Promise<Value>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<Value>((resolve) => {
    open = () => resolve(value as Value);
  });
  onTestFinished(open);
  return { opened, open };
}
