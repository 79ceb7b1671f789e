"""Chats of forty lines in four domains, each in two versions: with one name for everything, and with several.

``{name}`` stands for a person, a company or a project. The clean version always writes the first of its `NAMES`, the
fragmented one writes them in turn. Written for these tests; nothing in the library was chosen by them alone: the
thresholds of names are older, and were measured on other names (docs/project/measurements).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from itertools import cycle
from types import MappingProxyType
from typing import Final

from graphsearch.model import Memory
from graphsearch.testing.samples import day

SOFTWARE: Final = """
jon: Morning all. {acme} signed off the contract for {phoenix} yesterday.
mei: Great. {jon} leads {phoenix} from our side, and {mei} owns the data model.
jon: {mei} reports to {raj}. {raj} reports to {anna}.
raj: {phoenix} uses Postgres, and {phoenix} depends on Kafka.
anna: {acme} works with {globex} on the migration.
mei: I talked to {anna} about the budget for {phoenix}.
jon: {globex} depends on our release. {raj} works with {jon} on it.
raj: {mei} built the importer. {anna} works at {acme}.
anna: {jon} joined {globex} as an adviser in March 2024.
mei: {raj} lives in Leeds, so he takes the early train.
jon: {acme} asked for a demo of {phoenix} on 2024-04-12.
raj: {anna} manages {mei} while I am away.
mei: {globex} sent the test data to {jon}.
anna: Please ask {raj} before anything goes to {acme}.
jon: {phoenix} uses Redis for the sessions now.
raj: {jon} wrote the runbook, and {mei} reviewed it.
mei: {acme} wants weekly reports from {anna}.
anna: {globex} acquired a small lab in Porto.
jon: {mei} works with {raj} on the Kafka topics.
raj: {phoenix} was late last week because {globex} changed its schema.
mei: {anna} met {jon} in Bristol.
anna: {raj} leads the support rota at {acme}.
jon: {phoenix} depends on Terraform.
raj: {mei} moved to Cardiff last month.
mei: {jon} reports to {anna} from May on.
anna: {acme} paid the first invoice.
jon: {globex} uses {phoenix} in two offices.
raj: {anna} asked {mei} for a list of open issues.
mei: {raj} fixed the importer with {jon}.
anna: {acme} and {globex} meet us on 2024-05-20.
jon: {raj} built the dashboard in Grafana.
raj: {mei} lives in Cardiff now, {anna} lives in Leeds.
mei: {phoenix} passed the audit of {acme}.
anna: {jon} presented it to {globex}.
jon: Thanks to {mei} and {raj} for the slides.
raj: {acme} renewed for a year.
mei: {anna} leads the next phase of {phoenix}.
anna: {raj} and {jon} plan the cutover.
jon: {globex} follows in June 2024.
raj: {mei}, please close the old tickets.
"""

CLINIC: Final = """
head: The ward round starts with {patel} today.
nurse: {patel} works at {clinic}, and {okafor} works at {clinic}.
head: {okafor} reports to {patel}. {lind} reports to {okafor}.
lind: {supplier} delivered the pumps for {sepsis}.
nurse: {head} leads {sepsis}, and {lind} joined {sepsis} in January 2023.
okafor: {nurse} works with {lind} on the night shift.
head: {clinic} works with {supplier} on the new beds.
patel: {nurse} lives in Uppsala, {okafor} lives in Malmo.
lind: {sepsis} depends on the lab of {clinic}.
nurse: {supplier} sent an invoice to {patel}.
okafor: {head} asked {lind} for the numbers of {sepsis}.
head: {nurse} manages the pharmacy orders.
patel: {okafor} met {nurse} in Gothenburg on 2023-02-14.
lind: {clinic} bought two scanners from {supplier}.
nurse: {patel} wrote the protocol, and {okafor} checked it.
head: {sepsis} uses the register of {clinic}.
okafor: {lind} moved to Lund in the spring.
patel: {head} works with {okafor}.
lind: {nurse} trained four people for {sepsis}.
nurse: {supplier} missed the date again.
head: {patel} talked to {supplier} about it.
okafor: {clinic} opens a second theatre in May 2023.
patel: {lind} leads the audit of {sepsis}.
lind: {head} lives in Uppsala as well.
nurse: {okafor} reports to {head} from now on.
head: {supplier} works with {clinic} until 2025.
okafor: {nurse} asked {patel} for leave.
patel: {sepsis} ends on 2023-09-30.
lind: {okafor} presented {sepsis} at {clinic}.
nurse: {head} thanked {lind} and {patel}.
head: {clinic} pays {supplier} monthly.
okafor: {patel} joined the board of {clinic}.
patel: {nurse} and {lind} cover the weekend.
lind: {sepsis} depends on {supplier} for the kits.
nurse: {head} moved to Malmo.
head: {okafor} manages {nurse}.
okafor: {clinic} hired two doctors.
patel: {lind} works with {head}.
lind: {supplier} closed its depot in Lund.
nurse: {patel} has the keys.
"""

FILM: Final = """
maria: {studio} bought the rights, so {tide} is ours.
leo: {maria} leads {tide}. {leo} works with {maria}.
maria: {leo} reports to {ines}. {ines} works at {studio}.
ines: {lab} works with {studio} on the grading.
tom: {tide} depends on {lab}. {tom} joined {tide} in June 2022.
leo: {ines} lives in Lisbon, {tom} lives in Dublin.
maria: {tom} wrote the second draft, and {ines} read it.
ines: {studio} pays {lab} by the reel.
tom: {maria} met {leo} in Madrid on 2022-07-01.
leo: {lab} lost a reel of {tide}.
maria: {ines} asked {lab} for a copy.
ines: {tom} works with {leo} on the sound.
tom: {studio} moved the premiere of {tide}.
leo: {maria} moved to Lisbon for the shoot.
maria: {lab} joined {studio} for the restoration.
ines: {leo} manages the extras.
tom: {ines} reports to {maria} during the shoot.
leo: {tide} uses Resolve for the edit.
maria: {studio} asked {tom} for a trailer.
ines: {tom} presented it to {maria}.
tom: {lab} depends on film stock from Ghent.
leo: {studio} insured {tide}.
maria: {leo} and {tom} scout in Galway.
ines: {maria} has the schedule of {tide}.
tom: {ines} works with {maria}.
leo: {lab} opened a branch in Madrid.
maria: {tom} lives in Galway for now.
ines: {studio} works with {lab} again.
tom: {leo} built the dolly for {tide}.
leo: {ines} leads the casting.
maria: {studio} hired {leo} in August 2022.
ines: {tide} wraps on 2022-10-30.
tom: {maria} thanked {ines} and {leo}.
leo: {tom} reports to {leo}'s old boss, {maria}.
maria: {lab} sent the prints to {studio}.
ines: {leo} moved to Dublin.
tom: {tide} opened in Lisbon.
leo: {studio} sold {tide} abroad.
maria: {ines} met {tom} at {lab}.
ines: {maria} rests now.
"""

FREIGHT: Final = """
olga: {line} loads in Rotterdam on Monday.
sam: {olga} works at {line}. {sam} works at {port}.
olga: {sam} reports to {wei}. {wei} reports to {eliza}.
wei: {harbour} depends on the cranes of {port}.
eliza: {line} works with {port} on {harbour}.
sam: {eliza} leads {harbour}, {wei} works with {eliza}.
olga: {port} raised its fees in January 2021.
wei: {olga} lives in Hamburg, {sam} lives in Antwerp.
eliza: {sam} asked {line} for the manifest.
sam: {harbour} uses the radar of {port}.
olga: {wei} met {eliza} in Rotterdam on 2021-02-03.
wei: {line} bought two barges.
eliza: {olga} manages the crews of {line}.
sam: {wei} built the schedule for {harbour}.
olga: {eliza} talked to {port} about the quay.
wei: {sam} moved to Bremen.
eliza: {line} depends on {port} in winter.
sam: {olga} joined {harbour} in March 2021.
olga: {wei} and {sam} inspect the hull.
wei: {eliza} reports to the board of {line}.
eliza: {port} sent divers for {harbour}.
sam: {line} paid {port}.
olga: {sam} works with {wei}.
wei: {harbour} was delayed by fog.
eliza: {wei} leads the night watch.
sam: {eliza} lives in Bremen now.
olga: {port} joined {harbour} late.
wei: {olga} wrote the report, {eliza} signed it.
eliza: {line} renamed a ship.
sam: {wei} asked {olga} for the logs.
olga: {harbour} depends on {line}.
wei: {sam} presented {harbour} to {port}.
eliza: {olga} moved to Antwerp.
sam: {port} works with {line} until 2026.
olga: {eliza} manages {wei}.
wei: {line} closed an office in Hamburg.
eliza: {harbour} ends on 2021-11-11.
sam: {olga} met {wei} at {port}.
olga: {sam} has the charts.
wei: {eliza} thanked {sam}.
"""

NAMES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        SOFTWARE: {
            "jon": ("Jon Smith", "J. Smith", "John Smith"),
            "mei": ("Mei Tanaka", "May Tanaka", "M. Tanaka"),
            "raj": ("Rajesh Kumar", "Raj Kumaar", "R. Kumar"),
            "anna": ("Anna Kowalska", "Ana Kowalski", "Anna K."),
            "acme": ("Acme Corp", "ACME", "Acme Corporation", "Acme Group"),
            "globex": ("Globex Industries", "GlobEx Intl", "Globex"),
            "phoenix": ("Project Phoenix", "Phoenix Platform", "Phoenix 2"),
        },
        CLINIC: {
            "patel": ("Sunita Patel", "Dr. S. Patel", "Suneeta Patel"),
            "okafor": ("Chidi Okafor", "C. Okafor", "Chidy Okafor"),
            "lind": ("Erik Lindqvist", "Eric Lindquist", "E. Lindqvist"),
            "head": ("Karin Berg", "Karen Berg", "Karin Bergh"),
            "nurse": ("Sofia Nyman", "Sophia Nyman", "Sofie Nyman"),
            "clinic": ("Northgate Hospital", "Northgate Clinic", "North Gate Hospital"),
            "supplier": ("Medisupply Ltd", "MediSupply Group", "Medi Supplies"),
            "sepsis": ("Sepsis Watch", "SepsisWatch", "Sepsis Watch Project"),
        },
        FILM: {
            "maria": ("Maria Fernandez", "Maria Fernandes", "M. Fernandez"),
            "leo": ("Leonardo Rossi", "Leo Rosi", "L. Rossi"),
            "ines": ("Ines Carvalho", "Inez Carvalho", "Ines Carvallo"),
            "tom": ("Tom Gallagher", "Thom Gallagher", "Tom Gallager"),
            "studio": ("Lumen Pictures", "Lumen Films", "Lumen Pictures International"),
            "lab": ("Silver Lab", "SilverLab", "Silver Labs"),
            "tide": ("Project Tide", "Tide", "The Tide Project"),
        },
        FREIGHT: {
            "olga": ("Olga Petrova", "Olga Petrov", "O. Petrova"),
            "sam": ("Samuel Peeters", "Samuel Peters", "Sam P."),
            "wei": ("Wei Zhang", "Zhang Wei", "Wei Chang"),
            "eliza": ("Elizabeth Moore", "Lizzie Moor", "Elisabeth More"),
            "line": ("Norsea Lines", "Nor Sea Lines", "Norsea Line AS"),
            "port": ("Port of Antwerp", "Antwerp Port Authority", "Port Antwerp"),
            "harbour": ("Project Harbour", "Harbor", "Harbour Initiative"),
        },
    }
)


def chat(text: str, *, fragmented: bool) -> list[Memory]:
    """One version of a chat, an hour a line."""
    names = NAMES[text]
    turns = {key: cycle(written if fragmented else written[:1]) for key, written in names.items()}
    found = []
    for number, line in enumerate(text.strip().splitlines()):
        speaker, _, said = line.partition(": ")
        for key, written in turns.items():
            while f"{{{key}}}" in said:
                said = said.replace(f"{{{key}}}", next(written), 1)
        found.append(
            Memory(
                id=f"line {number:02}",
                text=said,
                speaker=names[speaker][0],
                session_id="chat",
                position=number,
                occurred_at=day(1) + timedelta(hours=number),
            )
        )
    return found
