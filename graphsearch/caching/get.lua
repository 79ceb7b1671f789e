local fresh, ttl, since = ARGV[1], ARGV[2], ARGV[3]
if changing then return false end
local current = redis.call('GET', ticket)
if not current then
    current = fresh
    redis.call('SET', ticket, current, 'PX', ttl)
end
if since ~= '' and since ~= current then return false end
local found = {current}
for place = 4, #ARGV do found[#found + 1] = redis.call('HGET', entities, ARGV[place]) end
return found
