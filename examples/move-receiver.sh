#!/usr/bin/env sh
# Moves an existing receiver to Posthorn: first with Stripe's signature and the existing secret, then with a second
# signature (Standard Webhooks), then with that one only. POSTHORN_API_KEY is the admin key, POSTHORN_URL the server.
set -eu
URL=${POSTHORN_URL:-http://127.0.0.1:8400}
api() {
  curl -sS --fail-with-body -H "Authorization: Bearer $POSTHORN_API_KEY" -H 'Content-Type: application/json' "$@"
}
field() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }

api -X PUT "$URL/api/v1/tenants/moved" -d '{"name":"Existing customer"}'
echo

# 1. The same body, headers and secret as before.
endpoint=$(api "$URL/api/v1/tenants/moved/endpoints" -d "{
  \"url\": \"$URL/sink/moved\", \"events\": [\"order.*\"], \"format\": \"data\",
  \"signature\": {\"schemes\": [\"stripe\"]}, \"secret\": \"${OLD_SECRET:-whsec_of_the_old_sender}\"
}" | sed 's/{"id":"\([^"]*\)".*/\1/')
ENDPOINT="$URL/api/v1/tenants/moved/endpoints/$endpoint"

# 2. Show a delivery.
delivery=$(api "$ENDPOINT/test" -d '{"type":"order.paid","data":{"id":"order-1","object":"order"}}' | field delivery_id)
api "$URL/api/v1/deliveries/$delivery/request?fresh=true"
echo

# 3. Add a second signature with its own secret. Give it to the receiver's owner, who can switch at any time.
api "$ENDPOINT/rotate-secret" -d '{"scheme":"standard-webhooks"}'
echo
api -X PATCH "$ENDPOINT" -d '{"signature":{"schemes":["stripe","standard-webhooks"]}}'
echo
api "$URL/api/v1/deliveries/$delivery/request?fresh=true"
echo

# 4. Remove the old signature.
api -X PATCH "$ENDPOINT" -d '{"signature":{"schemes":["standard-webhooks"]}}'
echo
