-- The vector index of a scope: building it by the functions of migrations/0001_initial.sql, and measuring how it must be searched.

-- count new vectors --
-- Vectors that are not in the scope's part of the vector index.
SELECT count(*) FROM {kind}_embedding WHERE org_id = %(org)s AND project_id = %(project)s AND generation >= %(generation)s

-- build vector index --
SELECT build_vector_index('{kind}')

-- keep vector index --
SELECT keep_vector_index('{kind}', %(candidates)s, %(bound)s)

-- extend vector index --
SELECT extend_vector_index('{kind}')

-- by index alone --
-- The next statements are to be answered by the vector index, however the planner would rather read a new part.
SET LOCAL enable_seqscan = off

-- sample of vectors --
SELECT embedding::vector::real[] FROM {kind}_embedding
WHERE org_id = %(org)s AND project_id = %(project)s ORDER BY hashtextextended(id::text, 0) LIMIT %(limit)s

-- nearest distances --
-- The distance of the last of the nearest few from each of some vectors, which are read as vectors once and not with every row.
WITH point AS MATERIALIZED (
    SELECT place, text::vector AS vector FROM unnest(%(vectors)s::text[]) WITH ORDINALITY q (text, place)
)
SELECT max(near.value) FROM point CROSS JOIN LATERAL (
    SELECT embedding::vector <=> point.vector AS value FROM {kind}_embedding
    WHERE org_id = %(org)s AND project_id = %(project)s ORDER BY value LIMIT %(limit)s
) near
GROUP BY point.place ORDER BY point.place

-- indexed distances --
-- How many of the nearest ten a part of the vector index finds with a number of candidates, and the distances of the tenth
-- and of the last of these.
WITH point AS MATERIALIZED (
    SELECT place, farthest, text::vector AS vector, text::halfvec(%(dimensions)s) AS short
    FROM unnest(%(vectors)s::text[], %(farthest)s::float8[]) WITH ORDINALITY q (text, farthest, place)
)
SELECT least(count(*) FILTER (WHERE near.value <= farthest), 10),
    coalesce((array_agg(near.value ORDER BY near.value))[10], max(near.value)), max(near.value)
FROM point CROSS JOIN LATERAL (
    SELECT embedding::vector <=> point.vector AS value FROM {kind}_embedding_part
    WHERE part = %(part)s AND org_id = %(org)s AND project_id = %(project)s
    ORDER BY embedding::halfvec(%(dimensions)s) <=> point.short LIMIT %(candidates)s
) near
GROUP BY point.place ORDER BY point.place
