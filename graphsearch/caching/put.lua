local given, ttl, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
if changing or redis.call('GET', ticket) ~= given then return 0 end
for place = 4, #ARGV, 2 do
    if redis.call('HLEN', entities) < most then redis.call('HSET', entities, ARGV[place], ARGV[place + 1]) end
end
if redis.call('PTTL', entities) < 0 then redis.call('PEXPIRE', entities, ttl) end
return 1
