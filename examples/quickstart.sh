#!/usr/bin/env sh
# Creates a tenant and an endpoint, publishes an event and lists its deliveries with curl. POSTHORN_API_KEY is the admin
# key, POSTHORN_URL the server. A second run creates another endpoint; the event is then a duplicate.
set -eu
URL=${POSTHORN_URL:-http://127.0.0.1:8400}
api() {
  curl -sS --fail-with-body -H "Authorization: Bearer $POSTHORN_API_KEY" -H 'Content-Type: application/json' "$@"
  echo
}

api -X PUT "$URL/api/v1/tenants/acme" -d '{"name":"Acme Inc."}'
api "$URL/api/v1/tenants/acme/endpoints" -d "{\"url\":\"$URL/sink/acme\",\"events\":[\"order.*\"]}"
api "$URL/api/v1/events" -d '{"tenant":"acme","type":"order.paid","data":{"order":1},"idempotency_key":"order-1-paid"}'
api "$URL/api/v1/tenants/acme/deliveries"
