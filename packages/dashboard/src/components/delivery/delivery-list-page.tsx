// A page with a list of deliveries, with retry and bulk actions.
import type { Delivery } from "@posthorn/client";
import { useNavigate } from "@tanstack/react-router";
import { useRetry } from "../../api/retry.ts";
import { DeliveryBulk } from "../bulk/delivery-bulk.tsx";
import { useSelection } from "../bulk/selection.ts";
import { ListPage, type ListPageProps } from "../list/list-page.tsx";
import { useDeliveryColumns } from "./delivery-columns.tsx";

type CommonProps = "columns" | "keyOf" | "onOpen" | "rowKeys" | "selection" | "children";

export function DeliveryListPage({
  areDead = false,
  isOfOneTenant = false,
  ...page
}: Omit<ListPageProps<Delivery>, CommonProps> & {
  readonly areDead?: boolean;
  readonly isOfOneTenant?: boolean;
}) {
  const navigate = useNavigate();
  const retry = useRetry();
  const columns = useDeliveryColumns({ areDead, isOfOneTenant });
  const selection = useSelection<Delivery>();
  return (
    <ListPage
      {...page}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: "/deliveries/$id", params: { id } })}
      // a selection is retried by the bulk bar instead
      rowKeys={selection.selected.size > 0 ? {} : { r: ({ id }) => void retry(id) }}
      selection={selection}
    >
      <DeliveryBulk selection={selection} />
    </ListPage>
  );
}
