"""Entity caches: in process memory, or on a Redis server shared by several processes."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.caching.entities import CacheReport as CacheReport
    from graphsearch.caching.entities import EntityCache as EntityCache
    from graphsearch.caching.entities import InProcessCache as InProcessCache
    from graphsearch.caching.entities import cache_report as cache_report
    from graphsearch.caching.entities import cached as cached
    from graphsearch.caching.on_redis import RedisCache as RedisCache

__getattr__, __dir__ = lazily(__name__)
