// The store's operations as Lua. A script runs completely or not at all, and alone, so each operation is atomic. All keys
// derive from the one that is passed (KEYS[1], a hash tag), so a cluster keeps them in one slot.
//
//   :message:<name>    hash: digest, state, at (depending on the state: end of the lease, when due, or when it failed, died or
//                      was done), first (first seen), window, failures, error, token, ordered, subject, sequence, record
//   :subject:<subject> hash: last (highest sequence done, if any), holder (the message claimed last)
//   :queue:<subject>   running and waiting messages with a sequence, by sequence
//   :due               running and waiting messages by `at`; those postponed by claimDue by when their subject may be free
//   :dead              dead letters by `at`

const prelude = `
local base = KEYS[1]
local due = base .. ':due'
local dead = base .. ':dead'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function whole(number) return string.format('%.0f', number) end
local function message_key(name) return base .. ':message:' .. name end
local function subject_key(subject) return base .. ':subject:' .. subject end
local function queue_key(subject) return base .. ':queue:' .. subject end

local function find(name)
  local found = redis.call('HMGET', message_key(name), 'digest', 'state', 'at', 'first', 'window', 'failures', 'token',
    'ordered', 'subject', 'sequence')
  if not found[1] then return nil end
  return {
    digest = found[1], state = found[2], at = tonumber(found[3]), first = tonumber(found[4]),
    window = tonumber(found[5]), failures = tonumber(found[6]), token = found[7], ordered = found[8] == '1',
    subject = found[9], sequence = found[10],
  }
end

local function find_remembered(name, window)
  local row = find(name)
  if row and row.state == 'done' and row.at + window <= now then return nil end
  return row
end

local function is_running(row) return row.state == 'running' and row.at > now end
local function is_due(row) return (row.state == 'running' or row.state == 'waiting') and row.at <= now end

local function enlist(name, at, subject, sequence)
  redis.call('ZADD', due, whole(at), name)
  if subject ~= '' then redis.call('ZADD', queue_key(subject), sequence, name) end
end

local function delist(name, subject)
  redis.call('ZREM', due, name)
  if subject ~= '' then redis.call('ZREM', queue_key(subject), name) end
end

local function held(name, token)
  local row = find(name)
  if row and row.token == token and is_running(row) then return row end
  return nil
end

-- a done message keeps what identifies a duplicate until the end of the window, and the token, whose owner may ask again
local function finish(name, digest, subject, window, token)
  local key = message_key(name)
  delist(name, subject)
  redis.call('ZREM', dead, name)
  redis.call('DEL', key)
  redis.call('HSET', key, 'digest', digest, 'state', 'done', 'at', whole(now), 'first', whole(now),
    'window', whole(window), 'failures', 0, 'token', token or '', 'ordered', 0, 'subject', '', 'sequence', '')
  redis.call('PEXPIRE', key, whole(window))
end

-- a gap wait below 0 disables ordering
local function turn(subject, sequence, first, gap_wait)
  if gap_wait < 0 or subject == '' then return 'free' end
  local known = redis.call('HMGET', subject_key(subject), 'last', 'holder')
  local last = known[1] and tonumber(known[1])
  local holder = known[2] and find(known[2])
  if holder and holder.ordered and is_running(holder) then return 'running', holder.at - now end
  sequence = tonumber(sequence)
  if last and sequence <= last then return 'stale' end
  local left = first + gap_wait - now
  if sequence > (last or 0) + 1 and left > 0 then return 'gap', left end
  return 'free'
end

-- the subject is free: the next postponed message is due again
local function wake(subject)
  for _, name in ipairs(redis.call('ZRANGE', queue_key(subject), 0, 99)) do
    local row = find(name)
    if row and is_due(row) then
      redis.call('ZADD', due, whole(row.at), name)
      return
    end
  end
end

local function hold(name, row, token, lease, window, gap_wait)
  local key = message_key(name)
  local failures = row.failures
  if row.state == 'running' then failures = failures + 1 end
  local ordered = gap_wait >= 0 and row.subject ~= ''
  redis.call('HSET', key, 'state', 'running', 'at', whole(now + lease), 'failures', failures, 'token', token,
    'window', whole(window), 'ordered', ordered and 1 or 0)
  redis.call('PERSIST', key)
  enlist(name, now + lease, row.subject, row.sequence)
  if ordered then
    redis.call('HSET', subject_key(row.subject), 'holder', name)
    redis.call('PEXPIRE', subject_key(row.subject), whole(math.max(lease, window)))
  end
  return failures
end
`;

const operation = (lua: string) => prelude + lua;

const claiming = `
local lease, window, gap_wait = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local token = ARGV[4]
local claims = {}

-- 'free' if it was claimed; otherwise the reason and the wait
local function claim(name, row)
  local kind, left = turn(row.subject, row.sequence, row.first, gap_wait)
  if kind == 'stale' then finish(name, row.digest, row.subject, window) end
  if kind == 'free' then
    local own_token = token .. '.' .. #claims
    local failures = hold(name, row, own_token, lease, window, gap_wait)
    table.insert(claims, redis.call('HGET', message_key(name), 'record'))
    table.insert(claims, own_token)
    table.insert(claims, failures)
  end
  return kind, left
end
`;

export const scripts = {
  /** → the server's eviction policy; empty if memory is unlimited or the policy is not readable. */
  eviction: `
local info = redis.pcall('INFO', 'memory')
if type(info) ~= 'string' or string.find(info, 'maxmemory:0\\r\\n') then return '' end
return string.match(info, 'maxmemory_policy:([%w-]+)') or ''
`,

  /** → kind, then the wait in milliseconds or the number of failures. */
  claim: operation(`
local name, digest, subject, sequence, record, token = unpack(ARGV)
local lease, window, gap_wait = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local row = find_remembered(name, window)
if row then
  if row.digest ~= digest then return {'other_body'} end
  if is_running(row) then return {'running', whole(row.at - now)} end
  if row.state ~= 'running' and row.state ~= 'failed' then return {row.state} end
end
local is_new = row == nil
row = row or {state = 'failed', first = now, failures = 0}
row.subject, row.sequence = subject, sequence
local kind, left = turn(subject, sequence, row.first, gap_wait)
if kind == 'stale' then finish(name, digest, subject, window) end
if (kind == 'gap' or kind == 'running') and is_new then
  local key = message_key(name)
  redis.call('DEL', key)
  redis.call('HSET', key, 'digest', digest, 'state', 'failed', 'at', whole(now), 'first', whole(now),
    'window', whole(window), 'failures', 0, 'token', '', 'ordered', 0, 'subject', subject, 'sequence', sequence)
  redis.call('PEXPIRE', key, whole(math.max(window, gap_wait)))
end
if kind ~= 'free' then return {kind, whole(left or 0)} end
redis.call('HSET', message_key(name), 'digest', digest, 'first', whole(row.first), 'subject', subject,
  'sequence', sequence, 'record', record)
return {'claimed', hold(name, row, token, lease, window, gap_wait)}
`),

  renew: operation(`
local name, token, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local row = held(name, token)
if not row then return 0 end
redis.call('HSET', message_key(name), 'at', whole(now + lease))
redis.call('ZADD', due, whole(now + lease), name)
return 1
`),

  /** An `attempt` after the first may find the result of an earlier one whose reply was lost. */
  complete: operation(`
local name, token, attempt = ARGV[1], ARGV[2], tonumber(ARGV[3])
local row = find(name)
if attempt > 1 and row and row.state == 'done' and row.token == token then return 1 end
row = held(name, token)
if not row then return 0 end
finish(name, row.digest, row.subject, row.window, token)
if row.ordered then
  local key = subject_key(row.subject)
  local last = redis.call('HGET', key, 'last')
  if not last or tonumber(row.sequence) > tonumber(last) then redis.call('HSET', key, 'last', row.sequence) end
  redis.call('PEXPIRE', key, whole(row.window))
  wake(row.subject)
end
return 1
`),

  /** `state` is the next state: failed, waiting or dead. */
  fail: operation(`
local name, token, state, after, failure = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local row = held(name, token)
if not row then return 0 end
local key = message_key(name)
redis.call('HSET', key, 'state', state, 'at', whole(now + after), 'failures', row.failures + 1, 'error', failure,
  'token', '')
delist(name, row.subject)
if state == 'waiting' then enlist(name, now + after, row.subject, row.sequence) end
if state == 'dead' then redis.call('ZADD', dead, whole(now), name) end
if state == 'failed' then
  redis.call('HDEL', key, 'record')
  redis.call('PEXPIRE', key, whole(row.window))
end
if row.ordered then wake(row.subject) end
return 1
`),

  /** → kind, then the wait in milliseconds. */
  accept: operation(`
local name, digest, subject, sequence, record, window = unpack(ARGV)
local row = find_remembered(name, tonumber(window))
if row then
  if row.digest ~= digest then return {'other_body'} end
  if is_running(row) then return {'running', whole(row.at - now)} end
  if row.state == 'running' then return {'waiting'} end
  if row.state ~= 'failed' then return {row.state} end
end
local key = message_key(name)
local first, failures = now, 0
if row then first, failures = row.first, row.failures end
redis.call('HSET', key, 'digest', digest, 'state', 'waiting', 'at', whole(now), 'first', whole(first),
  'window', window, 'failures', failures, 'token', '', 'ordered', 0, 'subject', subject, 'sequence', sequence,
  'record', record)
redis.call('PERSIST', key)
enlist(name, now, subject, sequence)
return {'accepted'}
`),

  /** → record, token and failures of each message. */
  claimDue: operation(`${claiming}
local limit = tonumber(ARGV[5])

-- returns until when no other message of the subject can be claimed
local function claim_lowest(subject)
  local at = 0
  while true do
    local name = redis.call('ZRANGE', queue_key(subject), at, at)[1]
    if not name then return now end
    local row = find(name)
    if not row then
      redis.call('ZREM', queue_key(subject), name)
    elseif not is_due(row) then
      at = at + 1
    else
      local kind, left = claim(name, row)
      if kind ~= 'stale' then return now + (left or lease) end
    end
  end
end

-- 500 at a time take the server some 15 ms. Messages that must wait for their subject are postponed, so they do not block others
local names = redis.call('ZRANGEBYSCORE', due, '-inf', whole(now), 'LIMIT', 0, gap_wait < 0 and limit or 500)
local busy_until = {}
for _, name in ipairs(names) do
  if #claims == limit * 3 then break end
  local row = find(name)
  if not row then
    redis.call('ZREM', due, name)
  elseif gap_wait < 0 or row.subject == '' then
    claim(name, row)
  else
    local subject = row.subject
    if not busy_until[subject] then
      busy_until[subject] = claim_lowest(subject)
      row = find(name)
    end
    if is_due(row) then redis.call('ZADD', due, whole(busy_until[subject]), name) end
  end
end
return claims
`),

  claimOne: operation(`${claiming}
local name = ARGV[5]
local row = find(name)
if row and is_due(row) then claim(name, row) end
return claims
`),

  /** → record, failures, error and time of death of each dead letter. */
  listDead: operation(`
local limit, after_name, after_at = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local start = 0
if after_name ~= '' then
    -- the last one of the previous page may be gone: a temporary neighbour marks its position
  local mark = after_name .. '\\0'
  redis.call('ZADD', dead, after_at, mark)
  start = redis.call('ZREVRANK', dead, mark)
  redis.call('ZREM', dead, mark)
  if redis.call('ZREVRANGE', dead, start, start)[1] == after_name then start = start + 1 end
end
local letters = {}
for _, name in ipairs(redis.call('ZREVRANGE', dead, start, start + limit - 1)) do
  local letter = redis.call('HMGET', message_key(name), 'record', 'failures', 'error', 'at')
  if letter[1] then for _, value in ipairs(letter) do table.insert(letters, value) end end
end
return letters
`),

  countDead: operation(`
return redis.call('ZCARD', dead)
`),

  requeue: operation(`
local name = ARGV[1]
local row = find(name)
if not row or row.state ~= 'dead' then return 0 end
redis.call('HSET', message_key(name), 'state', 'waiting', 'at', whole(now), 'failures', 0)
redis.call('ZREM', dead, name)
enlist(name, now, row.subject, row.sequence)
return 1
`),

  undoRequeue: operation(`
local name = ARGV[1]
local row = find(name)
if not row or row.state ~= 'waiting' then return 0 end
redis.call('HSET', message_key(name), 'state', 'dead', 'at', whole(now))
delist(name, row.subject)
redis.call('ZADD', dead, whole(now), name)
return 1
`),

  discard: operation(`
local name = ARGV[1]
local row = find(name)
if not row or row.state ~= 'dead' then return 0 end
finish(name, row.digest, row.subject, row.window)
return 1
`),
};
