// The standalone server, and the request handler for applications.
export { createHandler, type Handler, type HandlerOptions } from "./api/handler.ts";
export { Sink, type SinkRequest } from "./api/sink.ts";
export { type Setting, settings } from "./config/settings.ts";
export { type Config, ConfigError, loadConfig } from "./config.ts";
export { ListenError } from "./listen.ts";
export { createLogger, type LogLevel } from "./logger.ts";
export { createServer, type ServerOptions, type Service } from "./server.ts";
