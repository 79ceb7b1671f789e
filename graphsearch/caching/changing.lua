local entities, ticket, changes = KEYS[1], KEYS[2], KEYS[3]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', changes, '-inf', now)
local changing = redis.call('ZCARD', changes) > 0
