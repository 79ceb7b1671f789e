"""Words around names: titles, legal forms, vendors, short names. Data, all folded."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _each_with_its_name(table: str) -> Mapping[str, str]:
    """Map short names to long ones; each line of the table is "long: short short"."""
    lines = (line.strip().partition(": ") for line in table.strip().splitlines())
    return MappingProxyType({short: name for name, _, shorts in lines for short in shorts.split()})


# -- persons ------------------------------------------------------------------------------------------------------

TITLES: Final = _set(
    """
    mr mister mrs ms miss mx dr doctor prof professor sir dame lord lady rev reverend hon judge justice
    captain capt major colonel col lieutenant lt general gen sergeant sgt president senator sen minister
    coach officer father brother sister aunt uncle chancellor ambassador governor mayor secretary
    ceo cto cfo coo cio ciso cmo cpo vp svp evp director engineer
    commander cdr commodore admiral adm brigadier corporal cpl constable inspector superintendent
    councillor cllr rabbi imam sheikh sheikha nurse
    herr herrn frau fraulein mag magister dipling monsieur madame mademoiselle mme mlle maitre
    signor signora signorina sig sigra dott dottssa ing senor senora senorita sr sra srta dona doutor dra
    pan pani gospodin dhr mevr fru froken hr shri smt
    fr pd bc mgr maj rt right honourable auntie grandma grandpa senhor senhora monsignor ustadh datuk sri
    pastor chaplain bishop archbishop deacon cardinal abbot abbess chef chief deputy vice maestro ensign seaman
    midwife matron attorney burgermeister burgermeisterin foreman headmaster headmistress
    """
)
"""Words before a person's name, not part of it; none that is as often a given name ("Don", "Dean")."""

NOBLE_TITLES: Final = _set("count countess baron baroness prince princess duke duchess freiherr graf")
"""Titles before a given name and a surname; before one word they may be given names: "Prince", "Duke"."""

SHORTENED_NAMES: Final = _set("wm chas geo jas thos robt jno benj saml danl alex fred edw st ste")
"""Abbreviations of given names, and of "Saint", which are no titles."""

FACULTIES: Final = _set("med rer nat phil jur iur oec pol theol vet dent ing habil hab hc mult em emeritus emerita")
"""Words between the title of a doctor and a name: "Dr. rer. nat."."""

HONORIFIC_SUFFIXES: Final = _set("san sama kun chan sensei ji")
"""Suffixes of a name after a hyphen: "Tanaka-san"."""

DEGREES: Final = _set(
    "phd dphil md msc bsc mba mphil esq cpa cfa pmp frs obe mbe cbe kbe jd llm dds dvm rn dipling ceo cto cfo kc qc csc"
)
"""Words after a person's name, not part of it."""

GENERATIONS: Final = _set("jr sr ii iii iv junior senior")
"""Words after a name that distinguish parent and child: never dropped, but often omitted by writers."""

PARTICLES: Final = _set("van von der den de del della di da dos das du la le el al bin ibn bint ben ter ten zu zum zur")
"""Words within a name, mostly in surnames, that are often omitted."""

PATRONYMICS: Final = ("son", "sen", "ston", "sson")
"""Ends of surnames that differ by one letter: "Johnson", "Johnston"; "Andersen", "Anderson"."""

# -- organisations, projects, tools -------------------------------------------------------------------------------

LEGAL_FORMS: Final = _set(
    """
    inc incorporated corp corporation co company ltd limited llc llp lp plc na gmbh mbh ag se kg kgaa ohg ev eg
    sa sas sarl sasu srl spa nv bv ab as asa aps oy oyj kk pty pte pvt private sl slu lda ltda sro zrt kft doo ooo
    """
)
"""Legal forms after an organisation's name."""

KEPT_LEGAL_FORMS: Final = _set("corporation company")
"""Legal forms that initials may include: "British Broadcasting Corporation", the BBC."""

DESCRIPTORS: Final = _set(
    """
    industries enterprises systems technologies technology solutions group holding holdings partners associates
    consulting international worldwide software laboratories traders trading platforms logistics
    airlines airways university
    """
)
"""Words after an organisation's name that are often omitted: "Globex" for "Globex Industries"."""

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
    saint: st
    center: centre ctr
"""
ABBREVIATED_WORDS: Final = _each_with_its_name(_ABBREVIATED_WORDS)
"""Abbreviations and variants of words in names of organisations, each with its normal form."""

PROJECT_WORDS: Final = _set("project proj prj programme program initiative operation codename effort the")
"""Words around a project's name, not part of it."""

TOOL_WORDS: Final = _set("database db language lang programming framework library tool")
"""Words for kinds of tools after a tool's name."""

VENDORS: Final = _set(
    "apache microsoft ms google amazon aws azure gnu hashicorp adobe atlassian jetbrains github mozilla oracle meta"
)
"""Words before a tool's name that are often omitted: "Kafka" for "Apache Kafka"."""

SAME_VENDORS: Final = MappingProxyType({"aws": "amazon", "ms": "microsoft", "gh": "github"})
"""Short names of vendors, each with its normal form."""

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
"""Short names of well-known tools that no rule would find, each with its normal form."""

OTHER_WITH_JS: Final = frozenset({"angularjs"})
"""Tools that differ from the tool of the same name without "JS"."""

FILES_OF_EVERY_FOLDER: Final = _set(
    "readme license licence changelog contributing makefile dockerfile conftest __init__"
)
"""Stems of files that many folders have: without a folder they denote the one at the top."""

PACKAGE_FILES: Final = _set("setup.py setup.cfg pyproject.toml requirements.txt package.json cargo.toml go.mod")
"""Files that every package has."""

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
"""Synonyms of entity types, each with its normal form."""
