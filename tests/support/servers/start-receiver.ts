// The receiver of posthorn/testing, closed when the test ends.
import { type ScriptedReceiver, type ScriptedStep, startScriptedReceiver } from "posthorn/testing";
import { onTestFinished } from "vitest";

/** `answer` is for the path "/"; others respond with 200 until `receiver.answer` changes that. */
export async function startReceiver(answer: ScriptedStep = 200): Promise<ScriptedReceiver> {
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  receiver.answer("/", answer);
  return receiver;
}
