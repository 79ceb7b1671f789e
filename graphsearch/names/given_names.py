"""Given names with their short forms and spellings. Data, folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_SHORT_FORMS: Final = """
    abdullah: abdallah
    abhishek: abhi
    abigail: abby abbie gail
    abraham: abe bram
    aditya: adi
    agnieszka: aga
    ahmed: ahmad
    aisha: ayesha aysha aishah
    alan: al allan
    albert: al bert
    alejandro: alex ale
    aleksandr: alex sasha sascha
    aleksandra: ola sasha
    aleksei: alexei alexey aleksey alyosha lyosha
    alexander: alex al sasha sascha xander lex alec sandy aleksander aleksandr alexandre alessandro
    alexandra: alex lexi sandra sasha alexa aleksandra
    alfred: al alf fred freddie
    allison: ali allie alison
    alyona: alena
    amanda: mandy
    amir: ameer
    anastasia: nastya anastasiya
    anatoli: anatoly
    andrei: andrey
    andrew: andy drew
    angela: angie
    anthony: tony ant antony
    antonio: tony toni
    arkadi: arkady
    arthur: art
    barbara: barb babs
    bartholomew: bart
    benjamin: ben benny benji
    bernard: bernie
    bradley: brad
    calvin: cal
    cameron: cam
    caroline: carrie carolyn
    catherine: cathy cat kate katie katherine cate
    charles: charlie chuck chas
    charlotte: charlie lottie
    christina: chris tina chrissy christine
    christine: chris tina chrissy christina
    christopher: chris kit topher
    clifford: cliff
    curtis: curt
    cynthia: cindy
    daniel: dan danny
    danielle: dani
    david: dave davy
    deborah: deb debbie debra
    deepak: dipak
    desmond: des
    dmitri: dmitry dmitriy dmitrii dimitri dima mitya
    dominic: dom nick
    donald: don donnie
    dorothy: dot dottie
    douglas: doug
    edmund: ed eddie
    eduardo: edu
    edward: ed eddie ted teddy ned
    edwin: ed eddie
    ekaterina: yekaterina katya katia
    eleanor: ellie nell nora
    elena: yelena jelena lena
    elizabeth: liz lizzie beth betty eliza libby lisa betsy elisabeth
    emily: em emmy
    emmanuel: manny emanuel immanuel
    enrique: quique
    ernest: ernie
    eugene: gene
    evelyn: evie eve
    fatima: fatimah fatma
    fernando: nando
    florence: flo
    francesca: fran franny
    francesco:
    francis: frank fran
    francisco: paco pancho
    franklin: frank
    frederick: fred freddie fritz frederic fredrick fredric
    friedrich: fritz
    fyodor: fedor
    gabriel: gabe
    gabriella: gabby gabi
    geeta: gita
    gennadi: gennady
    geoffrey: geoff jeff
    george: giorgos georgios
    georgi: georgy georgiy
    gerald: gerry jerry
    gilbert: gil
    giovanni: gianni
    giuseppe: beppe
    gregory: greg
    grigori: grigory grigoriy grisha
    guadalupe: lupe
    guillermo: memo
    gwendolyn: gwen
    harold: hal harry
    hassan: hasan
    henry: hank harry hal
    herbert: herb
    howard: howie
    hussein: hussain husain hossein husayn
    ibrahim: ebrahim
    ignacio: nacho
    irina: ira
    isabella: bella izzy isabel
    ivan: vanya
    jacob: jake
    jacqueline: jackie
    james: jim jimmy jamie
    janet: jan
    jeffrey: jeff
    jennifer: jen jenny jenn
    jeremy: jerry jem
    jessica: jess jessie
    joachim: jochen achim
    joanna: asia
    johannes: hans jo
    john: jack johnny
    jonathan: jon jonny nathan jonathon johnathan johnathon
    jose: pepe
    joseph: joe joey
    josephine: jo josie
    joshua: josh
    judith: judy
    julia: jules
    karim: kareem
    katarzyna: kasia
    katharina: kathi
    katherine: kate katie kathy kat kathryn katharine catherine kitty
    kathleen: kathy kath katie
    kenneth: ken kenny
    khalid: khaled
    kimberly: kim
    konstantin: kostya
    krishnan: kris
    kristina: kris tina
    krzysztof: krzys
    ksenia: xenia kseniya
    lakshmi: laxmi
    lawrence: larry laurence
    layla: leila laila leyla
    leonard: leo len lenny
    leslie: les
    lillian: lily lil
    louis: lou louie
    lucas: luke luca lukas
    lucille: lucy
    luigi: gigi
    madeleine: maddie maddy
    mahmoud: mahmud
    malcolm: mal
    malgorzata: gosia
    marcus: marc
    margaret: maggie meg peggy marge greta rita
    maria: mia mariya mariia masha
    marjorie: marge margie
    martin: marty
    mary: molly polly
    matthew: matt matty
    matthias: matze
    maximilian: max
    maxwell: max
    meera: mira
    megan: meg
    melissa: mel missy
    michael: mike mick mickey mikey
    michelle: shelly
    miguel: mike
    mikhail: misha mihail michail
    mildred: millie
    mitchell: mitch
    mohammed: mo mohamed muhammad mohammad muhammed mohamad
    mustafa: mostafa mustapha
    nadezhda: nadya nadia
    natalia: natasha nat talia nataliya natalya nataliia
    natalie: nat
    nathaniel: nate nat nathan
    neeraj: niraj
    nicholas: nick nicky nicolas
    nicole: nicky nikki
    nikolai: nikolay kolya
    noor: nour nur
    norman: norm
    oleksandr: aleksandr alexander
    olga: olya
    oliver: ollie
    olivia: liv livvy
    oluwaseun: seun
    oluwatobi: tobi
    omar: umar
    oscar: oskar ozzie
    pamela: pam
    patricia: pat patty tricia trish
    patrick: pat paddy
    pavel: pasha
    penelope: penny
    percival: percy
    peter: pete
    philip: phil phillip filip
    pooja: puja
    priyanka: pri
    pyotr: petr
    quentin: quent
    rachel: rach
    rajeev: rajiv
    rajesh: raj
    randall: randy
    randolph: randy
    rashid: rasheed
    raymond: ray
    rebecca: becky becca
    reginald: reggie reg
    richard: rich rick dick ricky
    robert: bob bobby rob robbie bert
    roberta: bobbie
    roberto: beto
    roland: rolly
    ronald: ron ronnie
    rosalind: roz
    rosemary: rose rosie
    rudolph: rudy rudolf
    russell: russ
    saeed: said saeid
    salvatore: sal
    samantha: sam sammy
    samuel: sam sammy
    sandeep: sandip
    sanjeev: sanjiv
    sarah: sally sadie sara
    sebastian: seb bas
    semyon: semen
    sergei: sergey serhii seryozha
    siddharth: sid
    sidney: sid
    sofia: sofiya sofya sophia sonya
    solomon: sol
    sophia: sophie
    srinivas: srini shrinivas
    srinivasan: srini
    stanley: stan
    stephanie: steph stevie
    stephen: steve steven
    steven: steve stephen
    stuart: stu
    susan: sue susie suzy
    susanne: susi
    svetlana: sveta
    tabitha: tabby
    tariq: tarek tarik
    tatiana: tanya tatyana tetiana
    terence: terry
    theodore: ted teddy theo theodor
    theresa: terry tess teresa
    thomas: tom tommy
    timothy: tim timmy
    tobias: toby tobi
    tomasz: tomek
    trevor: trev
    ulrich: uli
    valentina: val
    valeri: valery valeriy
    valerie: val
    vasili: vasily vasiliy
    venkatesh: venkat
    veronica: ronnie
    victor: vic viktor
    victoria: vicky tori
    vikram: vik
    vincent: vince vinny
    virginia: ginny
    vitali: vitaly vitaliy vitalii
    vladimir: vlad volodya
    walter: walt wally
    wesley: wes
    wilfred: wilf
    wilhelm: willi
    william: bill billy will willy liam
    winifred: winnie
    winston: win
    wojciech: wojtek
    xavier: xavi
    yevgeny: zhenya eugene evgeny evgeniy yevgeniy evgenii
    yulia: yuliya yuliia iuliia julia
    yuri: yury yuriy iurii
    yusuf: yousef youssef yousuf yusef
    zachary: zach zack zachery
    zaynab: zainab zeinab
"""
"""Each line is a formal name, its short forms and its transliterations."""


def _formal_names(table: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for line in table.strip().splitlines():
        formal, _, short = line.strip().partition(": ")
        for name in (formal, *short.split()):
            found[name].add(formal)
    return MappingProxyType({name: frozenset(formal) for name, formal in found.items()})


FORMAL_NAMES: Final = _formal_names(_SHORT_FORMS)
"""The formal names that a given name may stand for, including itself if it is formal."""


def _names_of(formal_names: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, formal in formal_names.items():
        for each in formal:
            found[each].add(name)
    return MappingProxyType({formal: frozenset(names) for formal, names in found.items()})


NAMES_OF: Final = _names_of(FORMAL_NAMES)
"""All names that may stand for a formal name."""


def is_given_name(word: str) -> bool:
    """Whether a folded word is a given name of the table."""
    return word in FORMAL_NAMES
