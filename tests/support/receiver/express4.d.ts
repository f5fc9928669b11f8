// Express 4, installed under another name next to Express 5, whose types are close enough for what the suite calls.
declare module "express4" {
  import express from "express";
  export default express;
}
