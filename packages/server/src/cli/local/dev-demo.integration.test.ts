import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../../../../tests/support/servers/start-server.ts";
import { Sink } from "../../api/sink.ts";
import { createServer } from "../../server.ts";
import { DEMO_TENANT, deliverFirstEvent, SINK_ID } from "./dev-demo.ts";

test("two demos on one database have separate endpoints, and an unused one is reused", async () => {
  const { hooks } = await startServer();
  const start = async () => {
    const sink = new Sink();
    const server = createServer({ hooks, port: 0, sink: { sink, readers: "public" } });
    onTestFinished(() => server.stop());
    const url = `${(await server.start()).url}/sink/${SINK_ID}`;
    const demo = () => deliverFirstEvent(hooks, sink, url, 10_000);
    return { server, url, demo };
  };
  const urls = async () => (await hooks.endpoints.list(DEMO_TENANT)).data.map(({ url }) => url).toSorted();

  const [first, second, third] = [await start(), await start(), await start()];
  expect((await first.demo()).kind).toBe("delivered");
  expect((await second.demo()).kind).toBe("delivered");
  expect(await urls()).toEqual([first.url, second.url].toSorted());
  expect((await first.demo()).kind).toBe("delivered");
  expect(await urls()).toEqual([first.url, second.url].toSorted());

  await second.server.stop();
  expect((await third.demo()).kind).toBe("delivered");
  expect(await urls()).toEqual([first.url, third.url].toSorted());

  await third.server.stop();
  expect((await first.demo()).kind).toBe("delivered");
  expect(await urls()).toEqual([first.url]);
});

test("a demo endpoint with a changed URL is not modified", async () => {
  const { hooks } = await startServer({ started: false });
  const sink = new Sink();
  await deliverFirstEvent(hooks, sink, `http://127.0.0.1:65535/sink/${SINK_ID}`, 0);
  const [{ id } = { id: "" }] = (await hooks.endpoints.list(DEMO_TENANT)).data;
  await hooks.endpoints.update(DEMO_TENANT, id, { url: "https://example.com/mine" });
  await deliverFirstEvent(hooks, sink, `http://127.0.0.1:65535/sink/${SINK_ID}`, 0);
  expect((await hooks.endpoints.get(DEMO_TENANT, id)).url).toBe("https://example.com/mine");
});
