// Returns the delivery contracts of the deployment and of its endpoints.
import { headerPrefixProblem, type SecretEncoding, schemeProblems } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import { UNSET_SETTINGS } from "../../storage/queries/endpoints/setting-columns.ts";
import { type EndpointDefaults, effectiveSettings } from "../endpoints/effective-settings.ts";
import type { Endpoints } from "../endpoints/endpoints.ts";
import { readEncoding } from "../endpoints/secret-input.ts";
import { readFilters } from "../page.ts";
import { text } from "../read-fields.ts";
import {
  type ContractDeployment,
  type ContractSettings,
  type DeliveryContract,
  deliveryContract,
} from "./contract.ts";

export interface SecretQuery {
  /** How the receiver has the secret, if it is one of another sender. Default: `whsec`. */
  readonly secretEncoding?: SecretEncoding | undefined;
}

export interface ContractQuery extends SecretQuery {
  /** The contract of an endpoint with this signature scheme. */
  readonly scheme?: string | undefined;
  /** The contract of an endpoint with this header prefix. */
  readonly headerPrefix?: string | undefined;
}

export interface Contracts {
  /** Returns the contract of endpoints that set nothing but their URL and events. */
  get(query?: ContractQuery): Promise<DeliveryContract>;
  ofEndpoint(tenant: string, id: string, query?: SecretQuery): Promise<DeliveryContract>;
}

export interface ContractsOptions extends Omit<ContractDeployment, "formatContext"> {
  readonly defaults: EndpointDefaults;
  readonly endpoints: Pick<Endpoints, "get">;
}

const SECRET_FIELDS = { secretEncoding: readEncoding };

export function createContracts({ defaults, endpoints, ...others }: ContractsOptions): Contracts {
  const deploymentOf = (tenant: string): ContractDeployment => {
    const { source, ...context } = defaults.formatContext;
    return { ...others, formatContext: { ...context, source: source.replaceAll("{tenant}", tenant) } };
  };
  return {
    async get(query = {}) {
      const asked = readFilters(query, {
        ...SECRET_FIELDS,
        scheme: text(),
        headerPrefix: text(),
      });
      const { handshake: _, ...settings } = effectiveSettings(UNSET_SETTINGS, defaults);
      const signature = {
        schemes: asked.scheme === null ? settings.signature.schemes : [asked.scheme],
        headerPrefix: asked.headerPrefix ?? settings.signature.headerPrefix,
      };
      const prefixProblem = headerPrefixProblem(signature.headerPrefix);
      const problems =
        prefixProblem === null ? schemeProblems(signature.schemes, signature.headerPrefix) : [prefixProblem];
      if (problems.length > 0) throw new PosthornError("invalid_query", problems.join(" "));
      const own: ContractSettings = {
        ...settings,
        signature,
        headers: Object.keys(settings.headers),
        authorization: null,
        handshake: null,
      };
      return deliveryContract(own, deploymentOf("{tenant}"), asked.secretEncoding ?? "whsec");
    },

    async ofEndpoint(tenant, id, query = {}) {
      const { secretEncoding } = readFilters(query, SECRET_FIELDS);
      const endpoint = await endpoints.get(tenant, id);
      if (endpoint.websub !== null)
        throw new PosthornError(
          "endpoint_is_subscription",
          "The endpoint is a WebSub subscription: its deliveries follow WebSub instead of a contract.",
        );
      const settings = { ...endpoint, headers: Object.keys(endpoint.headers) };
      return deliveryContract(settings, deploymentOf(tenant), secretEncoding ?? "whsec");
    },
  };
}
