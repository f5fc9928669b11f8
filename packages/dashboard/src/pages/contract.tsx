// The delivery contract of endpoints that use the deployment's settings, and of a single endpoint.
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { defineTexts } from "../app/texts.ts";
import { ContractView } from "../components/contract/contract-view.tsx";
import { useShownEncoding } from "../components/endpoint/secret-encoding.tsx";
import { NotLoaded, Page } from "../components/ui/page.tsx";

const t = defineTexts({
  lead: [
    "What receivers can rely on, and what they must do. An endpoint with its own settings shows its own contract.",
    "Worauf sich Empfänger verlassen können und was sie tun müssen. Ein Endpunkt mit eigenen Einstellungen zeigt seinen eigenen Vertrag.",
  ],
  verify: ["Verify a request", "Eine Anfrage prüfen"],
});

export function ContractPage() {
  const query = useApi("deliveryContracts.get", useSecretQuery(), { placeholderData: keepPreviousData });
  return (
    <Page
      title={t.howDeliveriesWork}
      lead={t.lead}
      actions={
        <Link to="/verify" className="underline">
          {t.verify}
        </Link>
      }
    >
      {query.data === undefined ? <NotLoaded query={query} /> : <ContractView contract={query.data} />}
    </Page>
  );
}

export function EndpointContract({
  tenant,
  endpoint,
}: {
  readonly tenant: string;
  readonly endpoint: string;
}) {
  const query = useApi(
    "deliveryContracts.ofEndpoint",
    { tenant, endpoint, ...useSecretQuery() },
    { placeholderData: keepPreviousData },
  );
  return query.data === undefined ? <NotLoaded query={query} /> : <ContractView contract={query.data} />;
}

function useSecretQuery() {
  return { query: { secret_encoding: useShownEncoding() } };
}
