"""The rules by which a statement of the Postgres store goes to one shard of Citus, checked on its syntax tree.

Citus sends a statement whole to the node of one organisation if every table in it is bound to the organisation within
its own query: by a condition ``org_id = %(org)s``, by equality with a table that is, or by such a condition on a
subquery in FROM that passes the column on. The other rules are forms that it refuses, splits, or sends to every node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import pglast
from pglast import ast as nodes_of_postgres
from pglast.enums import BoolExprType, JoinType, SetOperation

from graphsearch.stores.in_postgres.session.migrating import migrations

ast: Final[Any] = nodes_of_postgres
"""Nodes; which of their fields are set depends on the statement, which their types do not know."""

SCOPE: Final[Mapping[str, str]] = {"org_id": "org", "project_id": "project"}
"""The columns that every table is bound by, with their parameters."""
_TEMPORARY: Final = re.compile(r"^(incoming|changed)_")
_VOLATILE: Final = frozenset({"now", "clock_timestamp", "random", "nextval", "gen_random_uuid"})
_QUERIES: Final = (ast.SelectStmt, ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt)
_PARAMETER: Final = re.compile(r"%\((\w+)\)s")


def scoped_tables() -> frozenset[str]:
    """The tables of the schema that have a column org_id."""
    text = "\n".join(each.text for each in migrations())
    found = {
        name.replace("%1$s", kind)
        for name, columns in re.findall(r"CREATE TABLE (\S+) \(\n(.*?)\n *\)", text, re.DOTALL)
        if "org_id" in columns
        for kind in (("entity", "relation", "memory") if "%1$s" in name else ("",))
    }
    return frozenset(found)


def faults(text: str, tables: frozenset[str]) -> list[str]:
    """Why a statement, with parameters as psycopg takes them, could not go to one shard; empty if it can."""
    statement, numbers = _parsed(text, tables)
    return sorted({*statement.unbound_to(numbers), *statement.forms()})


def unbound(text: str, tables: frozenset[str]) -> list[str]:
    """The tables of a statement that are not bound to its scope."""
    statement, numbers = _parsed(text, tables)
    return sorted(statement.unbound_to(numbers))


def _parsed(text: str, tables: frozenset[str]) -> tuple[_Statement, Mapping[str, int]]:
    numbers = {name: place for place, name in enumerate(SCOPE.values(), 1)}
    numbered = _PARAMETER.sub(lambda found: f"${numbers.setdefault(found[1], len(numbers) + 1)}", text)
    (parsed,) = pglast.parse_sql(numbered.replace("%%", "%"))
    return _Statement(parsed.stmt, tables), numbers


def mutants(text: str) -> Iterator[str]:
    """The statement with one of its scope's conditions or inserted values lost."""
    for found in re.finditer(r"(\w+\.)?(org_id = %\(org\)s|project_id = %\(project\)s)", text):
        yield text[: found.start()] + "true" + text[found.end() :]
    for found in re.finditer(r"(?<== )(?<!= )%\((org|project)\)s|(?<=SELECT )%\(org\)s|(?<=, )%\(project\)s", text):
        yield text[: found.start()] + "'other'" + text[found.end() :]


def _children(node: Any) -> Iterator[Any]:
    if isinstance(node, ast.Node):
        for slot in node.__slots__:
            yield getattr(node, slot, None)
    elif isinstance(node, tuple):
        yield from node


def _every(node: Any) -> Iterator[Any]:
    """All nodes below, with those of nested queries."""
    if isinstance(node, ast.Node):
        yield node
    for child in _children(node):
        yield from _every(child)


def _own(node: Any) -> Iterator[Any]:
    """All nodes of one query: nested queries are among them, but not what is in them."""
    for child in _children(node):
        if isinstance(child, ast.Node):
            yield child
        if not isinstance(child, _QUERIES):
            yield from _own(child)


def _name(reference: Any) -> tuple[str | None, str]:
    """The alias and the column; "*" for all."""
    names = [each.sval if isinstance(each, ast.String) else "*" for each in reference.fields]
    return (names[0] if len(names) > 1 else None), names[-1]


def _conjuncts(condition: Any) -> Iterator[Any]:
    if isinstance(condition, ast.BoolExpr) and condition.boolop == BoolExprType.AND_EXPR:
        for each in condition.args:
            yield from _conjuncts(each)
    elif condition is not None:
        yield condition


def _equalities(condition: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs that a condition states to be equal, in both orders."""
    for each in _conjuncts(condition):
        if not (isinstance(each, ast.A_Expr) and [part.sval for part in each.name] == ["="]):
            continue
        sides = (each.lexpr, each.rexpr)
        rows = all(isinstance(side, ast.RowExpr) for side in sides)
        for left, right in zip(sides[0].args, sides[1].args, strict=True) if rows else [sides]:
            yield left, right
            yield right, left


def _alias(item: Any) -> str:
    return item.alias.aliasname if item.alias else getattr(item, "relname", "")


@attrs.define
class _From:
    """What one query reads, and its conditions, each with the items that it restricts."""

    items: dict[str, Any] = attrs.field(factory=dict)
    conditions: list[tuple[Any, frozenset[str]]] = attrs.field(factory=list)

    @classmethod
    def of(cls, query: Any) -> _From:
        found = cls()
        for item in (
            *([query.relation] if isinstance(query, (ast.UpdateStmt, ast.DeleteStmt)) else ()),
            *(getattr(query, "fromClause", None) or ()),
            *(getattr(query, "usingClause", None) or ()),
        ):
            found._add(item)
        found.conditions.append((getattr(query, "whereClause", None), frozenset(found.items)))
        return found

    def _add(self, item: Any) -> frozenset[str]:
        if isinstance(item, ast.JoinExpr):
            left, right = self._add(item.larg), self._add(item.rarg)
            restricted = {JoinType.JOIN_INNER: left | right, JoinType.JOIN_LEFT: right}
            self.conditions.append((item.quals, restricted.get(item.jointype, frozenset())))
            return left | right
        self.items[_alias(item)] = item
        return frozenset([_alias(item)])


@attrs.define
class _Statement:
    whole: Any
    tables: frozenset[str]
    named: frozenset[str] = attrs.field(init=False)
    """Common table expressions."""

    def __attrs_post_init__(self) -> None:
        self.named = frozenset(
            str(each.ctename) for each in _every(self.whole) if isinstance(each, ast.CommonTableExpr)
        )

    def is_stored(self, item: Any) -> bool:
        return isinstance(item, ast.RangeVar) and item.relname in self.tables and item.relname not in self.named

    # -- bound to the organisation ----------------------------------------------------------------------------------

    def unbound_to(self, numbers: Mapping[str, int]) -> set[str]:
        """What is not bound to a column of the scope, by the numbers of the parameters."""
        return {
            f"{alias} is not bound to {column}"
            for column, parameter in SCOPE.items()
            for alias in self.unbound(self.whole, column, numbers[parameter])
        }

    def unbound(self, query: Any, column: str, parameter: int, imposed: frozenset[str] = frozenset()) -> Iterator[str]:
        """The tables without a condition on the column; ``imposed`` are those that the outer query has one for."""
        if isinstance(query, ast.SelectStmt) and query.op != SetOperation.SETOP_NONE:
            for arm in (query.larg, query.rarg):
                passed = self._passed_on(arm, column) if imposed else frozenset()
                yield from self.unbound(arm, column, parameter, passed)
            for each in query.withClause.ctes if query.withClause else ():
                yield from self.unbound(each.ctequery, column, parameter)
            return
        read = _From.of(query)
        bound = self._bound(read, column, parameter) | imposed
        yield from (alias for alias, item in read.items.items() if self.is_stored(item) and alias not in bound)
        if isinstance(query, ast.InsertStmt):
            yield from self._wrongly_inserted(query, column, parameter)
        for each in _own(query):
            if isinstance(each, _QUERIES):
                alias = next((name for name, item in read.items.items() if getattr(item, "subquery", None) is each), "")
                passed = self._passed_on(each, column) if alias in bound else frozenset()
                yield from self.unbound(each, column, parameter, passed)

    def _bound(self, read: _From, column: str, parameter: int) -> frozenset[str]:
        with_column = [name for name, item in read.items.items() if self._has(item, column)]

        def side(node: Any) -> str | None:
            if not isinstance(node, ast.ColumnRef) or _name(node)[1] != column:
                return None
            alias = _name(node)[0] or (with_column[0] if len(with_column) == 1 else None)
            return alias if alias in read.items else None

        bound = set[str]()
        for _ in read.items:  # each time around, one more may be bound to one that is
            for condition, restricted in read.conditions:
                for left, right in _equalities(condition):
                    alias = side(left)
                    given = isinstance(right, ast.ParamRef) and right.number == parameter
                    if alias in restricted and (given or side(right) in bound):
                        bound.add(str(alias))
        return frozenset(bound)

    def _has(self, item: Any, column: str) -> bool:
        return self.is_stored(item) or (
            isinstance(item, ast.RangeSubselect) and any(self._passed_on(arm, column) for arm in _arms(item.subquery))
        )

    def _passed_on(self, query: Any, column: str) -> frozenset[str]:
        """The tables whose column is among the results, so that a condition on the results is one on them."""
        if query.op != SetOperation.SETOP_NONE:
            return frozenset({""}) if all(self._passed_on(arm, column) for arm in _arms(query)) else frozenset()
        limits = (query.limitCount, query.limitOffset, query.groupClause, query.distinctClause)
        if any(limits) or any(isinstance(each, ast.FuncCall) and each.over for each in _own(query)):
            return frozenset()
        items = _From.of(query).items
        found = set[str]()
        for target in query.targetList or ():
            if isinstance(target.val, ast.ColumnRef) and target.name in {None, column}:
                alias, name = _name(target.val)
                if name in {"*", column}:
                    found |= {alias} if alias else set(items) if len(items) == 1 else set()
        return frozenset(each for each in found if each in items and self._has(items[each], column))

    def _wrongly_inserted(self, query: Any, column: str, parameter: int) -> Iterator[str]:
        if not self.is_stored(query.relation):
            return
        place = [each.name for each in query.cols].index(column)
        select = query.selectStmt
        bound = self._bound(_From.of(select), column, parameter)
        for row in select.valuesLists or [[each.val for each in select.targetList]]:
            value = row[place]
            given = isinstance(value, ast.ParamRef) and value.number == parameter
            copied = isinstance(value, ast.ColumnRef) and _name(value)[1] == column and bool(bound)
            if not given and not copied:
                yield f"the row inserted into {query.relation.relname}"

    # -- forms that Citus refuses, or sends to more than one node ---------------------------------------------------

    def forms(self) -> Iterator[str]:
        nodes = list(_every(self.whole))
        if not any(self.is_stored(each) for each in nodes):
            return
        temporary = {_alias(each) for each in nodes if _is_temporary(each)}
        for each in nodes:
            if isinstance(each, ast.CommonTableExpr) and isinstance(each.ctequery, ast.InsertStmt):
                yield "an INSERT inside WITH is sent to every node"
            if isinstance(each, ast.CaseExpr) and each.arg is not None:
                yield "CASE x WHEN y is deparsed as a comparison with true: write CASE WHEN x = y"
            if isinstance(each, ast.ColumnRef) and _name(each)[1] == "ctid" and temporary:
                yield "ctid beside a temporary table"
            if (
                isinstance(each, ast.FuncCall)
                and each.funcname[-1].sval in _VOLATILE
                and not _inserts_values(self.whole)
            ):
                yield f"{each.funcname[-1].sval} is volatile"
            if isinstance(each, ast.FuncCall) and each.funcname[-1].sval.startswith("pg_"):
                yield f"{each.funcname[-1].sval} acts on one node"
            if isinstance(each, ast.InsertStmt):
                yield from self._copies(each)
            if isinstance(each, (ast.SubLink, ast.RangeSubselect)):
                yield from self._mixes(each, temporary)

    def _copies(self, query: Any) -> Iterator[str]:
        """INSERT … SELECT becomes COPY, unless it returns something, may conflict, or stays within the node."""
        stays = any(isinstance(each, ast.RangeVar) for each in _every(query.selectStmt)) and all(
            self.is_stored(each) for each in _every(query.selectStmt) if isinstance(each, ast.RangeVar)
        )
        if (
            self.is_stored(query.relation)
            and not query.selectStmt.valuesLists
            and query.onConflictClause is None
            and not _returns(query)
            and not stays
        ):
            yield "INSERT … SELECT becomes COPY, which row-level security forbids: add RETURNING 1"

    def _mixes(self, nested: Any, temporary: set[str]) -> Iterator[str]:
        """A nested query that is about a temporary table, or refers to one, together with stored ones."""
        query = nested.subselect if isinstance(nested, ast.SubLink) else nested.subquery
        inside = list(_every(query))
        aliases = {
            _alias(each) for each in inside if isinstance(each, (ast.RangeVar, ast.RangeSubselect, ast.RangeFunction))
        }
        aliases |= {each.aliasname for each in inside if isinstance(each, ast.Alias)}
        foreign = {_name(each)[0] for each in inside if isinstance(each, ast.ColumnRef)} - aliases - {None}
        if any(_is_temporary(each) for each in inside):
            if foreign:
                yield "a subquery of a temporary table refers to the outer query"
            if isinstance(nested, ast.SubLink) and isinstance(nested.testexpr, ast.RowExpr):
                yield "a row IN a subquery of a temporary table"
        elif foreign & temporary and any(self.is_stored(each) for each in inside):
            yield "a subquery of a stored table refers to a temporary one: join them in FROM"


def _arms(query: Any) -> Iterable[Any]:
    if isinstance(query, ast.SelectStmt) and query.op != SetOperation.SETOP_NONE:
        return [*_arms(query.larg), *_arms(query.rarg)]
    return [query]


def _is_temporary(node: Any) -> bool:
    return isinstance(node, ast.RangeVar) and _TEMPORARY.match(node.relname) is not None


def _inserts_values(query: Any) -> bool:
    return isinstance(query, ast.InsertStmt) and bool(query.selectStmt.valuesLists)


def _returns(query: Any) -> Sequence[Any] | None:
    clause = getattr(query, "returningClause", None)
    found: Sequence[Any] | None = clause.exprs if clause is not None else getattr(query, "returningList", None)
    return found
