"""How an entity is pointed at."""

import pytest

from graphsearch.access.reader import reading
from graphsearch.access.references import known, resolve
from graphsearch.errors import UnknownElementError
from graphsearch.model import Batch, Entity
from graphsearch.testing.samples import day, person
from tests.curation.team import SECRET
from tests.gates import no_secrets

ADA = person("Ada", aliases=["Countess"])
TOOL = Entity(type="tool", name="Ada")
ALIASED = person("Bob", aliases=["Ada", "Count"])
PAST = person("Past", valid_to=day(1))


async def both(store, entity, gate=None):
    """The results of both ways of resolving."""
    async with reading(store, gate=gate) as reader:
        one = await resolve(entity, reader)
        assert one == (await known(entity, reader)).id
        return one


async def test_by_id_name_or_alias(scoped):
    await scoped.write(Batch(entities=[ADA, ALIASED]))
    for entity in (ADA.id, "ada", " ADA ", "countess"):
        assert await both(scoped, entity) == ADA.id


async def test_unless_there_is_just_one(scoped):
    await scoped.write(Batch(entities=[ADA, TOOL, ALIASED, PAST]))
    async with reading(scoped) as reader:
        for find in (resolve, known):
            with pytest.raises(UnknownElementError, match=r"2 entities called 'Ada'.*pass an id"):
                await find("Ada", reader)
            with pytest.raises(UnknownElementError, match="no entity called 'Zoe'"):
                await find("Zoe", reader)
        with pytest.raises(UnknownElementError):
            await resolve("Past", reader)
        assert (await known("Past", reader)).id == PAST.id


async def test_a_name_of_somebody_hidden_is_free_for_others(scoped):
    await scoped.write(Batch(entities=[person("Ada", labels=(SECRET,)), ALIASED]))
    assert await both(scoped, "Ada", no_secrets(by_signature=False)) == ALIASED.id
    assert await both(scoped, "Ada") == ADA.id


async def test_what_was_merged_away_is_what_it_became(scoped):
    await scoped.write(Batch(entities=[ADA, ALIASED, person("Eve")]))
    await scoped.merge(ADA.id, ALIASED.id)
    await scoped.merge(ALIASED.id, person("Eve").id)
    async with reading(scoped) as reader:
        assert (await known(ADA.id, reader)).id == person("Eve").id
        assert (await known("Countess", reader)).id == person("Eve").id
        with pytest.raises(UnknownElementError):
            await resolve(ADA.id, reader)


async def test_a_part_of_a_name_finds_its_only_bearer_and_lists_several(scoped):
    ari, levi = person("Ari Cohen"), person("Noa Levi", aliases=["Ari the Tall"])
    await scoped.write(Batch(entities=[ari, person("Arianna Cohen"), person("Ari Hidden", labels=(SECRET,))]))
    gate = no_secrets(by_signature=False)
    assert await both(scoped, "ari", gate) == await both(scoped, "Cohen Ari") == ari.id
    await scoped.write(Batch(entities=[levi]))
    async with reading(scoped, gate=gate) as reader:
        for find in (resolve, known):
            with pytest.raises(UnknownElementError, match=r"2 entities called 'Ari'.*'Ari Cohen'") as refused:
                await find("Ari", reader)
            assert "Noa Levi" in str(refused.value)
            assert "Hidden" not in str(refused.value)
        with pytest.raises(UnknownElementError, match="no entity called 'Levi'"):
            await known("Levi", reader, exactly=True)  # what is to be changed is named in full


@pytest.mark.parametrize(
    ("unknown", "nearest"),
    [
        ("Tidewrak", ["Tidewrack"]),
        ("Tdiewrack", ["Tidewrack"]),
        ("Ari Kohen", ["Ari Cohen"]),
        ("Gullwingg", ["Gullwing"]),
        ("Ingrid Solbreg", ["Ingrid Solberg", "Ingrid Holm"]),
    ],
)
async def test_an_unknown_name_is_answered_with_the_nearest_that_may_be_seen(scoped, unknown, nearest):
    names = ("Tidewrack", "Gullwing", "Ari Cohen", "Ingrid Solberg", "Ingrid Holm", "Zoe")
    secret = [person(name, labels=(SECRET,)) for name in ("Tidewrek", "Ari Cohan", "Ingrid Solbrag", "Gullwings")]
    await scoped.write(Batch(entities=[*map(person, names), *secret]))
    async with reading(scoped, gate=no_secrets(by_signature=False)) as reader:
        with pytest.raises(UnknownElementError) as refused:
            await known(unknown, reader)
    offered = str(refused.value).partition("nearest names are ")[2].partition(";")[0]
    assert offered.startswith(", ".join(map(repr, nearest)))
    assert offered.count("'") <= 6
    assert not any(each.name in offered for each in secret)


async def test_nothing_like_a_name_is_answered_with_nothing(scoped):
    await scoped.write(Batch(entities=[ADA, person("November")]))
    async with reading(scoped) as reader:
        for nothing in ("Zoe", "…", "Nobody"):
            with pytest.raises(
                UnknownElementError, match=rf"no entity called '{nothing}' in \S+; pass an id or a name"
            ):
                await known(nothing, reader)
