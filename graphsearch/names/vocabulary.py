"""What names are made of beside the name itself: data for `graphsearch.ingest.resolve`, all of it folded."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _each_with_its_name(table: str) -> Mapping[str, str]:
    """By short name the long one; a line of the table is "long: short short"."""
    lines = (line.strip().partition(": ") for line in table.strip().splitlines())
    return MappingProxyType({short: name for name, _, shorts in lines for short in shorts.split()})


# -- persons ------------------------------------------------------------------------------------------------------

TITLES: Final = _set(
    """
    mr mister mrs ms miss mx dr doctor prof professor sir dame lord lady rev reverend hon judge justice
    captain capt major colonel col lieutenant lt general gen sergeant sgt president senator sen minister
    coach officer father brother sister aunt uncle chancellor ambassador governor mayor secretary
    ceo cto cfo coo cio ciso cmo cpo vp svp evp director engineer
    herr frau monsieur madame mademoiselle mme mlle signor signora signorina sig sigra dott dottssa
    senor senora senorita sr sra srta don dona pan pani gospodin dhr mevr
    """
)
"""Words before a person's name that are no part of it."""

HONORIFIC_SUFFIXES: Final = _set("san sama kun chan sensei ji")
"""What follows a name after a hyphen: "Tanaka-san"."""

DEGREES: Final = _set(
    "phd dphil md msc bsc mba mphil esq cpa cfa pmp frs obe mbe cbe kbe jd llm dds dvm rn dipling ceo cto cfo"
)
"""Words after a person's name that are no part of it."""

GENERATIONS: Final = _set("jr sr ii iii iv junior senior")
"""Words after a name that tell a parent from a child: never dropped, but often left unsaid."""

PARTICLES: Final = _set("van von der den de del della di da dos das du la le el al bin ibn bint ben ter ten zu zum zur")
"""Words within a name, mostly of a surname, that are often left out."""

PATRONYMICS: Final = ("son", "sen", "ston", "sson")
"""Ends of surnames of which one letter makes another: "Johnson", "Johnston"; "Andersen", "Anderson"."""

# -- organisations, projects, tools -------------------------------------------------------------------------------

LEGAL_FORMS: Final = _set(
    """
    inc incorporated corp corporation co company ltd limited llc llp lp plc na gmbh mbh ag se kg kgaa ohg ev eg
    sa sas sarl sasu srl spa nv bv ab as asa aps oy oyj kk pty pte pvt private sl slu lda ltda sro zrt kft doo ooo
    """
)
"""Words after an organisation's name that say what it is in law."""

KEPT_LEGAL_FORMS: Final = _set("corporation company")
"""Legal forms that initials may count: "British Broadcasting Corporation", the BBC."""

DESCRIPTORS: Final = _set(
    """
    industries enterprises systems technologies technology solutions group holding holdings partners associates
    consulting international worldwide software laboratories traders trading platforms logistics
    airlines airways university
    """
)
"""Words after an organisation's name that are left out in speech: "Globex" for "Globex Industries"."""

_ABBREVIATED_WORDS: Final = """
    department: dept
    university: univ uni
    national: natl
    international: intl
    association: assn assoc
    institute: inst
    government: govt
    brothers: bros
    manufacturing: mfg
    services: svcs
    management: mgmt
    laboratories: labs
    laboratory: lab
    center: centre ctr
"""
ABBREVIATED_WORDS: Final = _each_with_its_name(_ABBREVIATED_WORDS)
"""Words of organisations' names that are written shorter, or in two ways, each with the one that stands for both."""

PROJECT_WORDS: Final = _set("project proj prj programme program initiative operation codename effort the")
"""Words around a project's name that are no part of it."""

TOOL_WORDS: Final = _set("database db language lang programming framework library tool")
"""Words after a tool's name that say what it is."""

VENDORS: Final = _set(
    "apache microsoft ms google amazon aws azure gnu hashicorp adobe atlassian jetbrains github mozilla oracle meta"
)
"""Words before a tool's name that are left out in speech: "Kafka" for "Apache Kafka"."""

SAME_VENDORS: Final = MappingProxyType({"aws": "amazon", "ms": "microsoft", "gh": "github"})
"""Vendors that are called by two names before a tool's."""

_SHORT_NAMES: Final = """
    postgresql: postgres psql pg pgsql
    javascript: js
    typescript: ts
    tensorflow: tf
    pandas: pd
    rust: rustlang
    css: css3
    html: html5
    macos: macosx osx
    powershell: pwsh
    neovim: nvim
    objectivec: objc
    fsharp: f#
    intellijidea: intellij
    bigquery: bq
    huggingface: hf
    githubactions: gha
    googlecloudplatform: gcp googlecloud
    scikitlearn: sklearn
    go: golang
    mongodb: mongo
    pytorch: torch
    python: python3 py
    sqlite: sqlite3
    numpy: np
    rabbitmq: rmq
    elasticsearch: elastic es
    dotnet: net
    cpp: c++ cplusplus
    csharp: c#
    dynamodb: dynamo
    beautifulsoup: bs4
    rubyonrails: rails ror
    googlechrome: chrome
    microsoftsqlserver: mssql sqlserver
    jupyternotebook: jupyter
    kubernetes: k8s kube
    internationalization: i18n
    accessibility: a11y
"""
SHORT_NAMES: Final = _each_with_its_name(_SHORT_NAMES)
"""Other names of well-known tools, which no rule would find, each with the one that stands for both."""

OTHER_WITH_JS: Final = frozenset({"angularjs"})
"""Tools that are not the one that is called the same without "JS"."""

FILES_OF_EVERY_FOLDER: Final = _set(
    "readme license licence changelog contributing makefile dockerfile conftest __init__"
)
"""Names, whatever their extension, of files of which many folders have their own: alone they mean the outermost."""

PACKAGE_FILES: Final = _set("setup.py setup.cfg pyproject.toml requirements.txt package.json cargo.toml go.mod")
"""Files of which every package has its own."""

# -- types --------------------------------------------------------------------------------------------------------

SAME_TYPES: Final = MappingProxyType(
    {
        "organization": "organisation",
        "org": "organisation",
        "company": "organisation",
        "people": "person",
        "document": "file",
    }
)
"""Types that texts and models name in more than one way, with the word of the design for them."""
