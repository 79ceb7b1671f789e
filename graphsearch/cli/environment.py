"""Where a command works, for whom and with what: its settings, server, scope, models and principal.

The only module that opens stores and engines and chooses models.
"""

from __future__ import annotations

import getpass
import os
import pwd
import tomllib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

import attrs
import click
from click.core import ParameterSource

from graphsearch.access.gate import ALLOW_ALL, Gate, StatisticsOf
from graphsearch.authz import CedarAuthorizer
from graphsearch.cli.options import Options, refuse
from graphsearch.embedders import MiniLMEmbedder, VoyageEmbedder, WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.llms import Budget, BudgetedLLM, llm_called
from graphsearch.model import Principal, Scope
from graphsearch.model import validation as check
from graphsearch.model.codec import Says, decode
from graphsearch.operations.service import Caller, GraphService, Identity
from graphsearch.protocols import LLM, Clock, Embedder
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import or_empty
from graphsearch.stores.postgres import PostgresGraphStore

TOML: Final = "graphsearch.toml"
EDITOR: Final = ("role=editor",)
"""The attributes, for the default policies, of an agent that works for whoever holds the store."""
ORG: Final = "local"


@attrs.frozen(kw_only=True)
class Settings:
    """What the file may set: options by their names, and ``embedder``, as GRAPHSEARCH_EMBEDDER.

    Neither the URL of a model's server nor policies: a folder that somebody else made must not send a key anywhere.
    """

    org: str = ""
    project: str = ""
    principal: str = ""
    also: tuple[str, ...] = ()
    dsn: str = ""
    embedded: str = ""
    llm: str = ""
    embedder: str = ""


def read_settings() -> tuple[Path | None, dict[str, Any]]:
    """The nearest graphsearch.toml, and what it sets; a relative ``embedded`` is relative to the file.

    Raises `InvalidInputError` for a file that cannot be read, and for keys that there are not.
    """
    file = next((each / TOML for each in _around() if (each / TOML).is_file()), None)
    if file is None:
        return None, {}
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(str(file), [f"it cannot be read: {error}"]) from error
    found = {name: value for name, value in attrs.asdict(decode(Settings, written, str(file))).items() if value}
    if "embedded" in found:
        found["embedded"] = str(file.parent / Path(found["embedded"]).expanduser())
    return file, found


def project_name() -> str:
    """The name of the repository, else of the current folder."""
    folder = next((each for each in _around() if (each / ".git").exists()), Path.cwd())
    return "".join(each if each.isalnum() or each in "._-" else "-" for each in folder.name)[:60] or "project"


def user_name() -> str:
    """The name of the user."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run as a number without a name
        return f"user-{os.getuid()}"


def data_folder() -> Path:
    """The folder of the embedded graph: in the user's data directory, but for root, whose home stays closed."""
    import platformdirs  # noqa: PLC0415 - an optional extra

    data = platformdirs.user_data_path("graphsearch")
    is_closed = os.geteuid() == 0 and data.is_relative_to(pwd.getpwuid(0).pw_dir)
    return (Path("/var/lib/graphsearch") if is_closed else data) / "graph"


def source_of(option: str) -> str:
    """Where the value of an option of the running command comes from."""
    match click.get_current_context().get_parameter_source(option):
        case click.core.ParameterSource.COMMANDLINE:
            return f"--{option}"
        case click.core.ParameterSource.ENVIRONMENT:
            return f"GRAPHSEARCH_{option.upper()}"
        case click.core.ParameterSource.DEFAULT_MAP:
            return str(read_settings()[0])
    return "default"


def _around() -> list[Path]:
    """The current folder and those around it, to the repository or the home folder; outside of both it alone."""
    here = Path.cwd()
    around = [here, *here.parents]
    ends = (place for place, each in enumerate(around) if each == Path.home() or (each / ".git").exists())
    return around[: next(ends, 0) + 1]


def _variable(name: str, **more: Any) -> Mapping[str, Any]:
    return {"envvar": f"GRAPHSEARCH_{name}", **more}


_PROJECT: Final = Says("The project in it.")
_FOLDER: Final = _variable("EMBEDDED", type=click.Path(file_okay=False, path_type=Path))


@attrs.frozen(kw_only=True)
class Server(Options):
    """The server given by the options."""

    dsn: Annotated[str, Says("The DSN of a Postgres, as the app role."), _variable("DSN")] = ""
    embedded: Annotated[Path | None, Says("Or the folder of an embedded Postgres."), _FOLDER] = None

    @property
    def folder(self) -> Path | None:
        """The folder of the embedded server, by default in the user's data directory; None with a DSN.

        An option counts before the environment, and that before the file. Raises `click.UsageError` for both in one.
        """
        if self.dsn and self.embedded:
            given = click.get_current_context().get_parameter_source
            order = [each for each in ParameterSource if each in (given("dsn"), given("embedded"))]
            both = "give either --dsn (or GRAPHSEARCH_DSN) or --embedded (or GRAPHSEARCH_EMBEDDED), and not both"
            refuse(len(order) == 1, both)
            return self.embedded if order[0] is given("embedded") else None
        return None if self.dsn else self.embedded or data_folder()


@attrs.frozen(kw_only=True)
class Place(Server):
    """The server and the scope."""

    org: Annotated[str, Says("The organisation."), _variable("ORG")] = ORG
    project: Annotated[str, _PROJECT, _variable("PROJECT", default=project_name, show_default="the folder's name")] = ""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scope, and those that are asked with it."""
        return tuple(Scope(self.org, project) for project in (self.project, *getattr(self, "also", ())))


@attrs.frozen(kw_only=True)
class Places(Place):
    """A place, and other projects that are asked with it."""

    also: Annotated[tuple[str, ...], Says("Another project of the organisation to ask."), {"metavar": "PROJECT"}] = ()


def embedded_in(server: Server) -> EmbeddedPostgres | None:
    """The embedded server, not yet started; None with a DSN. The user's data directory is made if need be."""
    folder = server.folder
    if folder is not None and not server.embedded:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return None if folder is None else EmbeddedPostgres(folder)


@asynccontextmanager
async def open_scopes(server: Server, *, clock: Clock | None = None) -> AsyncIterator[PostgresGraphStore]:
    """The scopes of a server; an embedded one runs while they are open. ``clock`` defaults to the machine's."""
    dsn, embedded = server.dsn, embedded_in(server)
    async with AsyncExitStack() as stack:
        if embedded is not None:
            dsn = (await stack.enter_async_context(embedded)).dsn
        yield await stack.enter_async_context(PostgresGraphStore.open(dsn, clock=clock))


@asynccontextmanager
async def open_caller(
    place: Place,
    *,
    gate: Gate = ALLOW_ALL,
    log: bool = True,
    embed: bool = False,
    llm: LLM | None = None,
    new: bool = False,
) -> AsyncIterator[Caller]:
    """Whoever asks the scope of a place, or all scopes that are asked with it; by default its owner.

    ``new``: scopes to which nothing was ever written are empty.
    """
    async with open_scopes(place) as scopes:
        found = (scopes.with_scope(org_id=each.org_id, project_id=each.project_id) for each in place.scopes)
        stores = [await or_empty(store) if new else store for store in found]
        embedder = await embedder_for(stores[0]) if embed else None
        engines = {each.scope: GraphSearchEngine(store=each, embedder=embedder, llm=llm) for each in stores}
        service = GraphService(
            engine_of=engines.__getitem__,
            authorizer=gate.authorizer,
            statistics=gate.statistics,
            log=log,
            read_only=not log,
        )
        scope, *also = place.scopes
        yield service.caller(Identity(gate.principal, scope, also=tuple(also)))


_LLM: Final = Says("A language model, such as openai:gpt-5-mini or anthropic:claude-sonnet-5.")


@attrs.frozen(kw_only=True, slots=False)
class Model(Options):
    """A language model within a budget."""

    llm: Annotated[str, _LLM, _variable("LLM", metavar="VENDOR:MODEL")] = ""
    llm_url: Annotated[str, Says("The URL of its server, if not the vendor's."), _variable("LLM_URL")] = ""
    llm_calls: Annotated[int | None, Says("The most calls of the model.", 0)] = None
    llm_tokens: Annotated[int | None, Says("The most tokens of prompts and answers.", 0)] = None

    def chosen(self, needed_by: str = "") -> LLM | None:
        """The language model. Raises `click.UsageError` for one that is ``needed_by`` something and not named."""
        needed_by = needed_by or ("--llm-url needs" if self.llm_url else "")
        refuse(needed_by and not self.llm, f"{needed_by} --llm (or GRAPHSEARCH_LLM)")
        if not self.llm:
            return None
        model = llm_called(self.llm, base_url=self.llm_url or None)
        return BudgetedLLM(model, Budget(calls=self.llm_calls, tokens=self.llm_tokens))


EMBEDDER: Final = "GRAPHSEARCH_EMBEDDER"
"""The variable that names the embedder of all commands."""
_LOCAL: Final[Mapping[str, Callable[[], Embedder]]] = MappingProxyType(
    {
        "wordllama": WordLlamaEmbedder,
        "wordllama-l2-supercat-256": WordLlamaEmbedder,
        "minilm": MiniLMEmbedder,
        "all-minilm-l6-v2": MiniLMEmbedder,
        "voyage": VoyageEmbedder,
    }
)
"""Embedders, by a short name and by that of the model."""


def choose_embedder() -> Embedder:
    """The default embedder: the one that is named, else Voyage if it has a key, else WordLlama."""
    return embedder_called(embedder_named() or ("voyage" if os.environ.get("VOYAGE_API_KEY") else "wordllama"))


def embedder_named() -> str:
    """The embedder that GRAPHSEARCH_EMBEDDER names, else graphsearch.toml."""
    return os.environ.get(EMBEDDER) or str(read_settings()[1].get("embedder", ""))


def embedder_called(name: str) -> Embedder:
    """The embedder of a name: wordllama, minilm, voyage, or the model of one. Raises `click.UsageError`."""
    refuse(not is_known(name), f"an embedder is wordllama, minilm, voyage or a model of Voyage, not {name!r}")
    return _made(_LOCAL[name]) if name in _LOCAL else VoyageEmbedder(name)


@cache
def _made(kind: Callable[[], Embedder]) -> Embedder:
    """One embedder of each kind: its model is loaded once."""
    return kind()


def is_known(name: str) -> bool:
    """Whether there is an embedder of this name."""
    return name in _LOCAL or name.startswith("voyage-")


async def embedder_for(store: GraphStore) -> Embedder:
    """The embedder that is named, else that of the scope's vectors, if known, else the default."""
    bound = None if embedder_named() else await (await or_empty(store)).embedder_name()
    return choose_embedder() if bound is None or not is_known(bound) else embedder_called(bound)


# -- principals -------------------------------------------------------------------------------------------------------

FILE: Final = {"type": click.Path(exists=True, dir_okay=False, path_type=Path)}
PRINCIPAL: Final = {"envvar": "GRAPHSEARCH_PRINCIPAL"}
_ATTRIBUTE: Final = Says("An attribute of the principal; true, false and numbers are read as such.")

Log = Annotated[bool, Says("Log what a block shows, for feedback; a standby takes only --no-log.")]
Statistics = Annotated[StatisticsOf, Says("What scores by words are computed from: the scope, or what is visible.")]


@attrs.frozen(kw_only=True, slots=False)
class Principals(Options):
    """The type and the attributes of principals, and the policies that they are under."""

    principal_type: Annotated[str, Says("The type of the principal: User or Agent.")] = "User"
    attribute: Annotated[tuple[str, ...], _ATTRIBUTE, {"metavar": "KEY=VALUE"}] = ()
    policies: Annotated[tuple[Path, ...], Says("Cedar policies in place of the default ones."), FILE] = ()
    schema: Annotated[Path | None, Says("The Cedar schema of those policies."), FILE] = None

    @property
    def authorizer(self) -> CedarAuthorizer:
        """The policies named by the options, else the default ones."""
        if self.policies:
            return CedarAuthorizer.from_files(self.policies, *([self.schema] if self.schema else ()))
        refuse(self.schema, "--schema comes with --policies")
        return default_policies()

    def called(self, id_: str, place: Place) -> Principal:
        """The principal of an id, a member of the projects that the command works in."""
        pairs = [each.partition("=") for each in self.attribute]
        for key, equals, value in pairs:
            refuse(not key or not equals, f"--attribute must be key=value, not {key + equals + value!r}")
        attributes = {key: _value(value) for key, _, value in pairs}
        return Principal(id=id_, type=self.principal_type, attributes=attributes, projects=place.scopes)


@attrs.frozen(kw_only=True)
class Asker(Principals):
    """The principal that a command acts for."""

    principal: Annotated[str, Says("The principal; default: the user."), PRINCIPAL] = ""

    def gate(self, place: Place) -> Gate:
        """The gate for the principal and the policies."""
        statistics = getattr(self, "statistics", StatisticsOf.SCOPE)
        return Gate(self.authorizer, self.called(who(self.principal, place), place), statistics)


@attrs.frozen(kw_only=True)
class BlockAsker(Asker):
    """The principal that a block is for."""

    log: Log = True
    statistics: Statistics = StatisticsOf.SCOPE


@cache
def default_policies() -> CedarAuthorizer:
    """The default policies, read once."""
    return CedarAuthorizer.default()


def who(given: str, place: Server) -> str:
    """The name of a principal: for an embedded graph by default the user; for a server it must be given."""
    refuse(not given and place.folder is None, "Missing option '--principal' (or GRAPHSEARCH_PRINCIPAL), for a DSN")
    return given or user_name()


def _value(text: str) -> object:
    try:
        read = check.parse_json(text)
    except ValueError:
        return text
    return read if isinstance(read, bool | int | float) else text
