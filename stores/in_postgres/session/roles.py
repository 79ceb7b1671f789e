"""Two roles: an admin who owns the tables, and an app role that owns and bypasses nothing."""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg import sql

from graphsearch.errors import UnsafeRoleError

_CURRENT: Final = """
SELECT current_user, rolsuper, rolbypassrls, EXISTS (
    SELECT FROM pg_catalog.pg_class c
    WHERE c.relnamespace = pg_catalog.to_regnamespace('graphsearch')
        AND pg_catalog.pg_has_role(current_user, c.relowner, 'USAGE')
)
FROM pg_catalog.pg_roles WHERE rolname = current_user
"""
_UNFIT: Final = "SELECT rolsuper OR rolbypassrls OR rolname = current_user FROM pg_catalog.pg_roles WHERE rolname = %s"

MAINTAIN_SINCE: Final = 170_000
"""The first server version in which a role other than the owner can be allowed to analyse tables."""


async def check_app_role(connection: psycopg.AsyncConnection[Any]) -> None:
    """Raise `UnsafeRoleError` for a superuser, a role with BYPASSRLS, or a (member of the) owner of the tables."""
    name, superuser, bypasses, owns = await (await connection.execute(_CURRENT)).fetchone() or ("", True, True, True)
    why = [
        word
        for word, applies in (("is a superuser", superuser), ("has BYPASSRLS", bypasses), ("owns the tables", owns))
        if applies
    ]
    if why:
        raise UnsafeRoleError(
            f"the role {name!r} {' and '.join(why)}, so row-level security does not bind it: open the store with the "
            "DSN of the app role that `graphsearch init` makes"
        )


async def make_app_role(connection: psycopg.AsyncConnection[Any], name: str, password: str | None) -> None:
    """Create the role if missing, and grant it exactly what the store needs.

    Raises `UnsafeRoleError` for the admin's own role, a superuser or a role with BYPASSRLS.
    """
    found = await (await connection.execute(_UNFIT, (name,))).fetchone()
    if found and found[0]:
        raise UnsafeRoleError(f"{name!r} cannot be the app role: name one that is no superuser, no owner, no BYPASSRLS")
    role = sql.Identifier(name)
    if not found:
        try:
            async with connection.transaction():
                await connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            pass  # roles belong to the whole server, and another database was migrated at the same moment
    if password is not None:
        await connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))
    database = sql.Identifier(connection.info.dbname)
    grants = (*_GRANTS, *(_GRANTS_FROM_17 if connection.info.server_version >= MAINTAIN_SINCE else ()))
    for grant in grants:
        await connection.execute(sql.SQL(grant).format(role=role, database=database))


_GRANTS: Final = (
    "GRANT CONNECT, TEMPORARY ON DATABASE {database} TO {role}",
    "GRANT USAGE ON SCHEMA graphsearch TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA graphsearch TO {role}",
    "REVOKE INSERT, UPDATE, DELETE ON graphsearch.migration FROM {role}",
)
_GRANTS_FROM_17: Final = ("GRANT MAINTAIN ON ALL TABLES IN SCHEMA graphsearch TO {role}",)
