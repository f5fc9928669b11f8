// `posthorn/testing`: tools for tests of applications, used by our own tests too.
export { createTestInstance, type TestInstance, type TestInstanceOptions } from "./instance.ts";
export * from "./scripted-receiver.ts";
