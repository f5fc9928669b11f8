// `posthorn/testing`: what our own tests use, for yours.
export { createTestInstance, type TestInstance, type TestInstanceOptions } from "./instance.ts";
export * from "./scripted-receiver.ts";
