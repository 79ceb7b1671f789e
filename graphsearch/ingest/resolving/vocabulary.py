"""What names are made of beside the name itself: data for `graphsearch.ingest.resolving`, all of it folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


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

_NICKNAMES: Final = """
    abigail: abby abbie gail
    abraham: abe bram
    aleksandr: alex sasha sascha
    alexander: alex al sasha sascha xander lex alec sandy aleksander aleksandr alexandre alessandro
    alexandra: alex lexi sandra sasha alexa aleksandra
    alfred: al alf fred freddie
    allison: ali allie alison
    amanda: mandy
    andrew: andy drew
    angela: angie
    anthony: tony ant antony
    antonio: tony toni
    barbara: barb babs
    benjamin: ben benny benji
    bernard: bernie
    bradley: brad
    cameron: cam
    catherine: cathy cat kate katie katherine cate
    charles: charlie chuck chas
    charlotte: charlie lottie
    christina: chris tina chrissy christine
    christine: chris tina chrissy christina
    christopher: chris kit topher
    cynthia: cindy
    daniel: dan danny
    danielle: dani
    david: dave davy
    deborah: deb debbie debra
    dominic: dom nick
    donald: don donnie
    dorothy: dot dottie
    douglas: doug
    edward: ed eddie ted teddy ned
    eleanor: ellie nell nora
    elizabeth: liz lizzie beth betty eliza libby lisa betsy elisabeth
    emily: em emmy
    evelyn: evie eve
    francesca: fran franny
    francis: frank fran
    franklin: frank
    frederick: fred freddie fritz frederic
    gabriel: gabe
    gabriella: gabby gabi
    geoffrey: geoff jeff
    gerald: gerry jerry
    gregory: greg
    gwendolyn: gwen
    harold: hal harry
    henry: hank harry hal
    isabella: bella izzy isabel
    jacob: jake
    jacqueline: jackie
    james: jim jimmy jamie
    janet: jan
    jeffrey: jeff
    jennifer: jen jenny jenn
    jeremy: jerry jem
    jessica: jess jessie
    johannes: hans jo
    john: jack johnny
    jonathan: jon jonny nathan jonathon
    joseph: joe joey
    joshua: josh
    judith: judy
    julia: jules
    katarzyna: kasia
    katherine: kate katie kathy kat kathryn katharine catherine kitty
    kenneth: ken kenny
    kimberly: kim
    lawrence: larry laurence
    leonard: leo len lenny
    lillian: lily lil
    louis: lou louie
    lucas: luke luca
    madeleine: maddie maddy
    malgorzata: gosia
    margaret: maggie meg peggy marge greta rita
    maria: mia
    martin: marty
    matthew: matt matty
    maximilian: max
    maxwell: max
    megan: meg
    melissa: mel missy
    michael: mike mick mickey mikey
    michelle: shelly
    mikhail: misha
    miguel: mike
    mohammed: mo mohamed muhammad mohammad
    natalia: natasha nat talia
    natalie: nat
    nathaniel: nate nat nathan
    nicholas: nick nicky nicolas
    nicole: nicky nikki
    oliver: ollie
    olivia: liv livvy
    pamela: pam
    patricia: pat patty tricia trish
    patrick: pat paddy
    peter: pete
    philip: phil phillip
    rajesh: raj
    raymond: ray
    rebecca: becky becca
    reginald: reggie reg
    richard: rich rick dick ricky
    robert: bob bobby rob robbie bert
    roberta: bobbie
    roland: rolly
    ronald: ron ronnie
    russell: russ
    samantha: sam sammy
    samuel: sam sammy
    sarah: sally sadie sara
    sebastian: seb bas
    sophia: sophie
    stephanie: steph stevie
    stephen: steve steven
    steven: steve stephen
    susan: sue susie suzy
    tatiana: tanya
    terence: terry
    theodore: ted teddy theo
    theresa: terry tess teresa
    thomas: tom tommy
    timothy: tim timmy
    valentina: val
    valerie: val
    veronica: ronnie
    victor: vic
    victoria: vicky tori
    vincent: vince vinny
    virginia: ginny
    vladimir: vlad volodya
    walter: walt wally
    wilhelm: willi
    william: bill billy will willy liam
    yevgeny: zhenya eugene
    zachary: zach zack
"""


def _groups(table: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for line in table.strip().splitlines():
        formal, _, short = line.strip().partition(": ")
        for name in (formal, *short.split()):
            found[name].add(formal)
    return MappingProxyType({name: frozenset(formal) for name, formal in found.items()})


FORMAL_NAMES: Final = _groups(_NICKNAMES)
"""The given names that a name may be short for, itself among them where others are short for it."""


def _members(formal_names: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, formal in formal_names.items():
        for each in formal:
            found[each].add(name)
    return MappingProxyType({formal: frozenset(names) for formal, names in found.items()})


NAMES_OF: Final = _members(FORMAL_NAMES)
"""All the names that may stand for a formal one."""


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
    """
)
"""Words after an organisation's name that are left out in speech: "Globex" for "Globex Industries"."""

PROJECT_WORDS: Final = _set("project proj prj programme program initiative operation codename effort the")
"""Words around a project's name that are no part of it."""

TOOL_WORDS: Final = _set("database db language programming framework library tool")
"""Words after a tool's name that say what it is."""

VENDORS: Final = _set(
    "apache microsoft ms google amazon aws azure gnu hashicorp adobe atlassian jetbrains github mozilla oracle meta"
)
"""Words before a tool's name that are left out in speech: "Kafka" for "Apache Kafka"."""

SAME_VENDORS: Final = MappingProxyType({"aws": "amazon", "ms": "microsoft"})
"""Vendors that are called by two names before a tool's."""

_SHORT_NAMES: Final = """
    postgresql: postgres psql pg pgsql
    scikitlearn: sklearn
    go: golang
    mongodb: mongo
    pytorch: torch
    python: python3 py
    sqlite: sqlite3
    numpy: np
    rabbitmq: rmq
    elasticsearch: elastic
    dotnet: net
    cpp: c++ cplusplus
    csharp: c#
    dynamodb: dynamo
    beautifulsoup: bs4
    rubyonrails: rails ror
    googlechrome: chrome
    microsoftsqlserver: mssql sqlserver
    jupyternotebook: jupyter
    kubernetes: k8s
    internationalization: i18n
    accessibility: a11y
"""
SHORT_NAMES: Final = MappingProxyType(
    {
        short: name
        for line in _SHORT_NAMES.strip().splitlines()
        for name, _, shorts in [line.strip().partition(": ")]
        for short in shorts.split()
    }
)
"""Other names of well-known tools, which no rule would find, each with the one that stands for both."""

OTHER_WITH_JS: Final = frozenset({"angularjs"})
"""Tools that are not the one that is called the same without "JS"."""

FILES_OF_EVERY_FOLDER: Final = _set(
    "readme license licence changelog contributing makefile dockerfile package requirements setup conftest __init__"
)
"""Names, without extension, of files of which many folders have their own: alone they mean the outermost."""

# -- types --------------------------------------------------------------------------------------------------------

UNTYPED: Final = frozenset({"", "concept", "unknown"})
"""Types of what may yet turn out to be a person, a tool, …"""

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
