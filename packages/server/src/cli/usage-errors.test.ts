// Command lines that are rejected before a request is sent. No server listens at the URL: a request would end with code 4.
import { generateSecret } from "@posthorn/wire";
import { expect, test } from "vitest";
import { argv, posthorn } from "../../../../tests/support/servers/run-command.ts";

const env = { POSTHORN_URL: "http://127.0.0.1:1", POSTHORN_API_KEY: "k" };
const secret = generateSecret();
const create = argv`endpoints create https://a.example --tenant x`;
const update = argv`endpoints update ep_1 --tenant x`;
const verify = argv`verify --secret ${secret}`;
const sign = argv`sign --secret ${secret}`;
const publicKey = "whpk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

test.each<[args: string[], says: string, stdin?: string]>([
  [["nonsense"], "unknown command"],
  [argv`serve --port 99999`, "--port must be a whole number"],
  [argv`serve --processes atuo`, 'a whole number from 1 to 128, or auto (did you mean auto?). It is "atuo".'],
  [argv`serve --proceses 2`, "Did you mean --processes?"],
  [argv`dev --processes 2`, "unknown option"],
  [argv`dev --port 99999`, "--port must be a whole number"],
  [argv`completion powershell`, "Allowed choices are bash, zsh, fish"],
  [argv`publish a.b`, "--tenant or --user"],
  [argv`publish a.b --tenant t --data @/nowhere/x.json`, "/nowhere/x.json, which cannot be read (ENOENT)"],
  [argv`events list --nonsense`, "unknown option"],
  [argv`events get`, "missing required argument"],
  [argv`events list --since yesterday`, "--since must be a time such as"],
  [argv`events list --limit 0`, "--limit must be a whole number from 1"],
  [argv`events list --url nowhere`, "--url must be a URL"],
  [argv`events list --key ${"a b"}`, "The key has invalid characters"],
  [argv`deliveries list --state lost`, "Allowed choices are"],
  [argv`tenants get ..`, '".." is not an id'],
  [argv`endpoints list --tenant .`, '"." is not an id'],
  [argv`api tenants.get tenant=..`, '".." is not an id'],
  [argv`api tenants.gett`, 'There is no operation "tenants.gett". Did you mean tenants.get'],
  [argv`api tenants.get`, "/api/v1/tenants/{tenant} needs tenant=…"],
  [argv`api tenants.get any`, '"any" is not a parameter'],
  [argv`event-types get export`, "Did you mean `posthorn event-types export`?"],
  [argv`event-types put a.b --data []`, "--data must be a JSON object"],
  [argv`event-types put a.b --data {"name":"c.d"}`, '--data is for "c.d", not for a.b. Use the same type'],
  [argv`event-types import --data openapi.json`, "Use JSON such as '{\"id\":1}', @file, or - for standard"],
  [argv`event-types import --data @openapi.yaml`, "openapi.yaml is YAML; only JSON is supported"],
  [argv`event-types import --data @README.md`, "README.md is not JSON: "],
  [argv`event-types import --data -`, "Standard input is not JSON"],
  [argv`event-types export --format raml`, "Allowed choices are openapi, asyncapi"],
  [argv`${create} --scheme rot13`, 'There is no signature scheme "rot13"'],
  [argv`${create} --batch-events 1001`, "--batch-events must be a whole number from 1 to 1000"],
  [
    argv`${create} --handshake-rate 0 --handshake a.example`,
    "--handshake-rate must be a whole number from 1",
  ],
  [argv`${create} --handshake-rate 5`, "--handshake-rate needs --handshake"],
  [argv`${create} --token-in query`, "--token-in needs a token"],
  [argv`${create} --scheme-secret github`, "separated by ="],
  [update, "There is nothing to change"],
  [argv`endpoints import --tenant x --data {}`, "has no list of endpoints"],
  [argv`endpoints test ep_1 --tenant x --data {total`, "--data is not JSON"],
  [argv`keys create x --scopes everything`, '--scopes has "everything"; choose from'],
  [argv`keys create x --scopes admin --expires-at 2020-01-01`, "in the future, such as 2027-01-01"],
  [argv`replay start --states lost`, '--states has "lost"; choose from success, failed, dead'],
  [argv`replay start --rate 5001`, "--rate must be a whole number from 1 to 5000"],
  [argv`listen`, "--forward-to is required"],
  [argv`listen --forward-to http://`, "--forward-to must be a URL"],
  [argv`listen --forward-to x --scheme rot13`, 'no signature scheme "rot13"'],
  [argv`tail --every 1`, "--every must be a whole number from 50"],
  [argv`sign --secret whsec_abc`, "is incomplete"],
  [argv`${sign} --scheme t-v1,sha256`, "choose one"],
  [argv`sign --secret x --scheme twilio`, "set it with --to"],
  [argv`sign --secret x --scheme twilio --to here`, "--to must be a URL"],
  [argv`${sign} --scheme discord`, "which needs a whsk_"],
  [argv`${sign} --timestamp now`, "--timestamp must be a Unix time"],
  [argv`${sign} --id a.b`, "without a dot"],
  [argv`${sign} --header-prefix ${"X Shop"}`, "header prefix"],
  [argv`sign --secret ${publicKey}`, "None of the secrets can sign"],
  [verify, "The empty line between headers and body is missing", "{}"],
  [
    verify,
    "There is no X-Webhook-Signature and no webhook-signature header, nor one of a vendor. Check that the whole request was passed.",
    "Host: x\n\n{}",
  ],
  [verify, "use --header-prefix x-shop", "X-Shop-Signature: t=1,v1=00\n\n{}"],
  [verify, '"nonsense" is not a header', "nonsense\n\n{}"],
  [argv`${verify} --header ${"a: b"} --request x`, "not both"],
  [argv`${verify} --tolerance long`, "--tolerance must be a whole number"],
  [argv`${verify} --now soon`, "--now must be a time"],
])("%j is a usage error: %s", async (args, says, stdin = "") => {
  const result = await posthorn({ env, stdin })`${args}`;
  expect(result).toMatchObject({ code: 2, out: "", err: expect.stringContaining(says) });
});
