#!/usr/bin/env sh
# A receiver that is there already moves to Posthorn, by curl: signed as Stripe does with the secret it has, then in the
# standard way besides, and then in that way alone. POSTHORN_API_KEY is the admin key, POSTHORN_URL the server.
set -eu
URL=${POSTHORN_URL:-http://127.0.0.1:8400}
api() {
  curl -sS --fail-with-body -H "Authorization: Bearer $POSTHORN_API_KEY" -H 'Content-Type: application/json' "$@"
}
field() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }

api -X PUT "$URL/api/v1/tenants/moved" -d '{"name":"A customer from before"}'
echo

# 1. As the receiver knows it: the same body, the same headers, the secret it has.
endpoint=$(api "$URL/api/v1/tenants/moved/endpoints" -d "{
  \"url\": \"$URL/sink/moved\", \"events\": [\"order.*\"], \"format\": \"data\",
  \"signature\": {\"schemes\": [\"stripe\"]}, \"secret\": \"${OLD_SECRET:-whsec_of_the_old_sender}\"
}" | sed 's/{"id":"\([^"]*\)".*/\1/')
ENDPOINT="$URL/api/v1/tenants/moved/endpoints/$endpoint"

# 2. What a delivery looks like.
delivery=$(api "$ENDPOINT/test" -d '{"type":"order.paid","data":{"id":"order-1","object":"order"}}' | field delivery_id)
api "$URL/api/v1/deliveries/$delivery/request?fresh=true"
echo

# 3. A second signature, with a secret of its own. Hand it to the receiver, who changes over when it likes.
api "$ENDPOINT/rotate-secret" -d '{"scheme":"standard-webhooks"}'
echo
api -X PATCH "$ENDPOINT" -d '{"signature":{"schemes":["stripe","standard-webhooks"]}}'
echo
api "$URL/api/v1/deliveries/$delivery/request?fresh=true"
echo

# 4. The old one goes.
api -X PATCH "$ENDPOINT" -d '{"signature":{"schemes":["standard-webhooks"]}}'
echo
