local step, name, fresh, ttl, all = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if step == 'begin' then
    redis.call('ZADD', changes, now + ttl, name)
    if redis.call('PTTL', changes) < tonumber(ttl) then redis.call('PEXPIRE', changes, ttl) end
else
    redis.call('ZREM', changes, name)
end
redis.call('SET', ticket, fresh, 'PX', ttl)
if all == '1' then redis.call('DEL', entities) end
for place = 6, #ARGV do redis.call('HDEL', entities, ARGV[place]) end
return 1
