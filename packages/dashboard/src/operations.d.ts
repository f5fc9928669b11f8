declare module "virtual:operations" {
  export const operations: import("@posthorn/client/web").Callables;
}
