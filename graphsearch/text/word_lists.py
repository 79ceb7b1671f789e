"""Word lists that distinguish names from other capitalised words: data, in lower case.

They are not lists of names, but of words next to names, and of capitalised words that are no names.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def data_lines(package: str, name: str) -> list[str]:
    """The lines of a data file of a package, without empty ones and comments."""
    lines = (line.strip() for line in files(package).joinpath(name).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


_LETTERS: Final = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))  # noqa: PLR2004 - ASCII


def ascii_words(text: str) -> list[bytes]:
    """The words of a text in lower case, without characters beyond ASCII; several times as fast as `str.translate`."""
    return text.lower().encode("ascii", "replace").translate(_LETTERS).split()


HONORIFICS: Final = word_set(
    "aunt auntie capt captain col colonel dame doctor dr fr frau fraulein fräulein gen governor grandma grandpa herr "
    "hon imam judge king lady lieutenant lord lt madam madame mademoiselle maj miss mlle mme monsieur mr mrs ms mx "
    "pope president prince princess prof professor queen rev reverend saint senator senhor senhora senor senora señor "
    "señora sergeant sgt sheikh shri signor signora sir sister smt sra srta uncle"
)
"""Before a name they make it a person's."""

PATRONS: Final = word_set("king lady lord pope president prince princess queen saint")
"""Honorifics of those to whom institutions are dedicated."""

POSTS: Final = word_set(
    "backer boss captain chair creator founder head leader member members owner part president sponsor"
)
"""Before "of" they are what somebody is."""

SURNAME_PARTICLES: Final = word_set("af al av da das de della der di dos du ibn van von zu zur")
"""Small words that begin a surname: "van der Berg"."""

GENERATIONS: Final = word_set("jr sr ii iii iv")
"""After a name they tell namesakes of one family apart."""

GIVEN_WORDS: Final = word_set(
    "angel april august autumn bill chance chase chuck dawn dean drew earnest faith frank grace grant happy "
    "hope hunter jack jolly joy june lane long lucky major mark may miles mercy noble pat "
    "peace price rich rob rose rusty sandy "
    "skip storm sue summer sunny trip true tuesday wade will winter wednesday young early star page judge king prince "
    "royal justice reed art sterling victor harry jimmy buck guy gene ray cash colt cliff dale glen heath lance "
    "penny ruby pearl olive ivy holly violet daisy lily iris amber crystal ginger jade sage honor constance patience"
)
"""Ordinary words that are given names as well."""

SURNAME_WORDS: Final = word_set("an be do ha he ho in la may my no on so to ye you will")
"""Small words that are names after a given name: "Minh An"."""

ROLES: Final = word_set(
    "admiral agent analyst architect brigadier ceo cfo chairman chairwoman chef chief cio cmo co-founder coach "
    "commander "
    "congressman congresswoman constable coo corporal councillor councilman councilwoman cpo cto detective director "
    "editor engineer evp founder inspector "
    "lead manager matron mayor midwife minister nurse officer pastor rabbi secretary sheriff skipper "
    "superintendent svp vp"
)
"""Before the name of a person, not part of it."""

NAME_PARTICLES: Final = word_set(
    "af al av bin bint da das de degli del della den der di do dos du el ibn la le lo na of st ten ter umm van vom von "
    "y zu zum zur"
)
"""Small words within a name."""

PERSON_NAME_PARTICLES: Final = NAME_PARTICLES - {"of"}

OF_HEADS: Final = word_set(
    "academy archbishop archdiocese association bank battle bay bill bishop board bureau cape cathedral center "
    "centre chamber church city college commonwealth council county court declaration department diocese director "
    "district duke earl faculty federation game gulf hall house institute isle journal king kingdom lake league "
    "lord ministry museum office order people's port prince princess province queen republic school secretary "
    "society state states statue temple tower treaty union university war"
)
"""Words that begin a name with "of", "of the" or "for"; before "of", any single capitalised word does."""

ORGANISATION_ENDS: Final = word_set(
    "academy ag agency airlines airways ballet bank boats brothers capital co college commission company consulting "
    "contractors cooperative co-operative corp corporation electronics energy engineering enterprises "
    "entertainment federation ferries films "
    "foods "
    "foundation foundry fund gmbh group holdings hospital inc industries infirmary institute insurance lab labs llc "
    "llp logistics ltd media ministry motors opera partners pharma pharmaceuticals philharmonic pictures plc press "
    "productions publishers publishing railways records robotics school services shipping shipworks software solutions "
    "sons stores studios surveys systems technologies telecom transport trust university ventures works"
)
CLUB_ENDS: Final = word_set(
    "association band board brigade choir chorus circle club collective committee corps council crew department "
    "ensemble fc "
    "fellowship forum gang guild jury league network orchestra panel party quartet quintet rovers society squad "
    "subcommittee taskforce team trio troop troupe union unit united"
)
"""Last words of groups with members instead of employees."""
GROUP_HEADS: Final = word_set(
    "action advisory control discussion focus interest planning steering study support user users working"
)
"""Before "Group" they name a group of people, not a company: "Working Group"."""
# Without words that are surnames as well (Park, Hill, Church, Hall).
PLACE_ENDS: Final = word_set(
    "avenue beach boulevard city coast county creek desert district island islands mountain mountains ocean "
    "peninsula province river road sea square street town valley village"
)
FACILITY_ENDS: Final = word_set(
    "airport arena bakery brewery building cafe cathedral center centre clinic farm gallery garage hotel library mill "
    "museum nursery observatory palace pharmacy playhouse prison pub restaurant shipyard stadium station studio "
    "surgery "
    "theater theatre winery workshop"
)
EVENT_ENDS: Final = word_set(
    "awards championship championships conference cup election expo festival games hackathon marathon olympics "
    "revolution summit symposium war"
)
PLACE_STARTS: Final = word_set("cape fort lake mount mt")

PLACE_OPENINGS: Final = PLACE_STARTS | word_set(
    "central costa east el great hong las little los new north northern port porto puerto rio saint san sant santa são "
    "saudi south southern sri st the united upper west western"
)
"""First words of places of several words."""

PERSON_VERBS: Final = word_set(
    "apologised apologized coached cooked cooks cried drove emailed graduated hugged jogs knits laughed married "
    "mentored mentors nodded paints phoned sang shrugged sings smiled studied studies swims taught teaches texted "
    "volunteered waved"
)
"""After a name they make it a person's."""

NAME_VERBS: Final = PERSON_VERBS | word_set(
    "acquired acquires agreed agrees announced approved argued argues asked asks believes bought brought called came "
    "complained decided decides enjoyed enjoys explained explains feels felt fixed gave hated hates hoped hopes "
    "insisted invited knew knows liked likes lost loved loves maintained maintains meets mentioned mentions merged "
    "met owned owns plays preferred prefers presented presents promised proposed proposes rejected released replied "
    "reported retired reviewed reviews said says sent shipped sold speaks spoke suggested suggests tells thinks "
    "thought told visited wanted wants went wins won wrote"
)
"""After a capitalised word they make it a name."""

OWNED_BY_PEOPLE: Final = word_set(
    "advisor apartment assistant aunt birthday boss boyfriend brother car career cat children colleague cousin "
    "dad daughter death design desk dog email family father fiance fiancee friend friends girlfriend grandfather "
    "grandma grandmother grandpa home house husband husband's idea job kids manager mentor mom mother neighbor "
    "neighbour nephew niece office parents partner phone presentation proposal report reports roommate sister son "
    "talk team thesis uncle wedding wife"
)
"""After "'s" they make the name before it a person's."""

_CALENDAR: Final = word_set(
    "apr april aug august dec december feb february fri friday fridays jan january jul july jun june mar march "
    "may mon monday mondays nov november oct october sat saturday saturdays sep sept september sun sunday sundays "
    "thu thur thurs thursday thursdays today tomorrow tonight tue tues tuesday tuesdays wed wednesday wednesdays "
    "yesterday"
)

_GRAMMAR = word_set(
    "a about above across after afterwards again against ago ahead all almost along already also although always "
    "am among an and another any anybody anyhow anyone anything anyway anywhere apparently are aren't around as "
    "ask at away back be because been before behind being below beside besides between beyond both but by can "
    "can't cannot certainly clearly consequently could couldn't currently despite did didn't do does doesn't "
    "doing don't done down due during each eight either else enough especially even eventually ever every "
    "everybody everyone everything everywhere exactly except few fewer finally first firstly five following for "
    "former formerly fortunately four from further furthermore generally given goes going gone had hadn't half "
    "hardly has hasn't have haven't having he he'd he'll he's hence her here here's hers herself him himself his "
    "how how's however i i'd i'll i'm i've if in indeed inside instead into is isn't it it'd it'll it's its "
    "itself just last lastly lately later latter least less let let's like likewise many may maybe me meanwhile "
    "merely might mine more moreover most mostly much must my myself near nearly neither never nevertheless next "
    "nine no nobody none nor not notably nothing now nowadays nowhere obviously occasionally of off often on once "
    "one ones only onto or originally other others otherwise ought our ours ourselves out outside over overall "
    "own per perhaps please possibly presumably previously primarily probably quite rarely rather really recently "
    "regarding regardless same second secondly seldom seven several shall she she'd she'll she's should shouldn't "
    "similarly simply since six so some somebody somehow someone something sometimes somewhere soon still such "
    "suddenly ten than that that's the their theirs them themselves then there there's thereafter therefore these "
    "they they'd they'll they're they've third this those though three through throughout thus till to together "
    "too toward towards two typically under unfortunately unless unlike until up upon us usually very via was "
    "wasn't we we'd we'll we're we've well were weren't what what's whatever when when's whenever where where's "
    "whereas wherever whether which whichever while who who's whoever whole whom whose why will with within "
    "without won't would wouldn't yes yet you you'd you'll you're you've your yours yourself"
)

_OPENINGS: Final = word_set(
    "absolutely according action actions actually add added adding additionally agenda agreed ah aha alright "
    "amazing amen anytime apologies appreciate approved architecture article assign assume assuming attendees "
    "attention aw awesome aww aye baby background bad based basically beautiful besides best better big bless "
    "bonus book bottom break brilliant bring bro brother btw bug build buy bye call came caution caveat cc change "
    "changed changes chapter check cheerio cheers choose click close closed cmon come comment comments completed "
    "conclusion congrats congratulations consider considering contact context continue cool correct corrected "
    "correction crazy create created critical cross current customer customers cute dad daddy daily damn dang "
    "darn data date daughter day days dear decided decision decisions deep default define definitely delete "
    "depending deploy deployed describe description design details dev did discuss discussed documentation dude "
    "early easy edit email end enjoy error errors escalate evening event events everybody's exactly example "
    "examples excellent exciting experience eyes fact fair family fantastic father feature feel feeling figure "
    "file find fine fix fixed focus folks follow food forward found free friend friends fun funny fyi game gee "
    "geez general get gets getting given giving glad go god good goodbye goodnight gosh got gotcha grandfather "
    "grandma grandmother grandpa granted great guess guys ha haha happy hard hate hear hearing hello help hey hi "
    "hiring history hmm hope hopefully hot huge husband idea ideas ignore image imagine important impressive "
    "improve include including incredible info install introduction invite issue issues item items jeez job join "
    "jokes judging keep key kids kind know knowing kudos lead learn learning left legend life listen lists live "
    "living location lol long look looking looks lot lots love loved lovely low lucky maam main make makes making "
    "mama man management mark mean meant meet meeting meetings memo merge merged message migration milestone mind "
    "mine miss missing mom mommy money monthly morning mother move moved moving mr mrs ms mum mummy music nah "
    "name names nature neat need needed new news nice night nope note noted notes notify number object oh ok okay "
    "old oof ooh oops open order outcome overview owner owners page part party pass people perfect person "
    "personal phew photo pick picture ping place plan planning plans play please plus point post power pretend "
    "pretty previous prior problem process product progress project projects proud pull push put question "
    "questions quick quote random read reading ready real reason received recent recommend refactor reference "
    "regards related release released remember remind reminder remove removed rename replace reply report request "
    "required requirements research results review reviewed right risk risks role rule run running sad said save "
    "saw say saying schedule section see seeing seems sees send sent service session set setting setup share "
    "shipped short show side sign simple single sir sister size skip sleep slow small smart solution solved "
    "somebody's son sorry sounds source speak speaking special spent spring stage start started starting state "
    "status stay step steps stop story strong stuff subject success suggest summary summer super support suppose "
    "supposing sure surely sweet system systems table take takes taking talk talking task tasks team teams "
    "technically tell terrible test tested testing tests thank thankfully thanks that'd that'll theory thing "
    "things think thinking time times tip tips title today's tomorrow's topic total touch tough trade train "
    "training travel true truly trust truth try trying turn turns type ugh um understand understanding understood "
    "update updated updates upgrade use used useful user users using vacation value version view visit wahoo wait "
    "waiting wake walk want wanted wants warning watch watching way week weekend weekly weeks welcome what'd "
    "who'd whoa why'd wife wild win winter wish wishing woah wonder wonderful wondering woohoo word words work "
    "worked working works world worried worth wow wowza write writing wrong yay yeah year yearly years yep "
    "apologies backer backers boss captain chair creator disregard forget funding gossip head hearsay home "
    "hopefully leader member members money rumor rumors rumour rumours sponsor sponsors supposedly scratch strike "
    "undo "
    "whoops yesterday's yikes yo young yuck yum yummy yup zero"
)

# Written in haste: "Im", "Thats".
_GRAMMAR |= frozenset(word.replace("'", "") for word in _GRAMMAR if "'" in word)

COMMON: Final = _GRAMMAR | _OPENINGS | _CALENDAR
"""Capitalised at the beginning of a sentence or for emphasis; no names by themselves."""


@cache
def ordinary_words() -> frozenset[str]:
    """Words that are no names by themselves, though emphasis, a label or an interface writes them with a capital."""
    return COMMON | word_set(files("graphsearch.text").joinpath("ordinary_words.txt").read_text(encoding="utf-8"))


GRAMMAR: Final = _GRAMMAR | _CALENDAR
"""Neither names nor the first or last words of names, anywhere in a sentence."""

NEVER_NAMES: Final = _CALENDAR | word_set(
    "ad ai aka am asap bc bce btw ce christmas dad daddy diy dr easter english eta etc faq fixme fyi god grandma "
    "grandpa halloween i i'd i'll i'm i've imho imo internet lgtm lol mom mommy mr mrs ms mum n.b nb ok omg p.s "
    "pm ps tba tbd thanksgiving tldr todo tv u.s wip"
)
"""No names anywhere, capitalised or not."""

NOT_ALONE: Final = (
    NEVER_NAMES
    | HONORIFICS
    | ROLES
    | GENERATIONS
    | word_set("api apis ceos cli co corp ctos faq hr id inc llc ltd pdf prs qa ui url ux")
)
"""No names by themselves."""

YEARLY: Final = EVENT_ENDS | word_set(
    "accounts agreement audit budget calendar census contract edition fair forecast plan programme rally release "
    "report return returns review roadmap season statement strategy tour"
)
"""What there is one of in a year, so that the year tells them apart."""

UNNUMBERED: Final = GRAMMAR | word_set(
    "answer appendix article chapter clause day disc episode equation example fig figure footnote item listing no "
    "note number page paragraph part question season section series step table top verse vol volume week"
)
"""Before a number they refer to a part of a text or of a time, and make no name with it."""

COUNTED: Final = word_set(
    "am billion centimetres cents countries days degrees dollars editions employees episodes euros feet fl games "
    "goals hectares hours houses hundred inches kg kilometers kilometres km lb m matches medals men meters metres "
    "miles million minutes mm months more mph new nights of others out oz people percent persons players pm points "
    "pounds runs seasons seats seconds sets songs staff stars students thousand tickets times titles tonnes tons "
    "units users votes weeks wins women yards years"
)
"""After a number they show that it counts them: "joined Acme 3 years ago"."""

SMALL_TEAM_WORDS: Final = word_set(
    "a amazing an another away best big core current different dream each entire every first former full good "
    "great her his home its large last local my national new next old one other our own remote rest right same "
    "second single small strong that their these third this those three two whole winning wonderful wrong young "
    "your"
)
"""Before "team" they make no name of a team."""

NUMBERED: Final = word_set(
    "account apartment apt article badge batch bay box branch build building bus bug case ceiling channel "
    "chapter class clause code cve desk dock door error exit ext extension figure flat flight form frame gate hall id "
    "ieee invoice iso issue item job lane licence license line locker lot machine model no note number office order "
    "page pallet parcel part patch pep platform plot policy port postcode pr protocol pump rack ref reference release "
    "rev revision rfc room route row rule seat section sensor serial server shelf shop sku slot stand step story suite "
    "table task terminal ticket track train truck unit user valve van version ward windows zip zone"
)
"""What numbers are given to: the number behind them is no year."""
