"""Court decisions that nobody ever rendered, in the forms that French courts give theirs."""

from __future__ import annotations

import textwrap
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from nodes.domain.text.documents import DocumentText, Page

NUMERALS = {1: "premier", 5: "cinq", 12: "douze", 14: "quatorze", 21: "vingt et un", 30: "trente"}

SOCIAL = """SOC.

AB1

COUR DE CASSATION
______________________

Audience publique du {day} mars {year}

{solution}

Mme ARNAUD, président

Arrêt n° 311 FS-B

Pourvoi n° {letter} {number}

R É P U B L I Q U E F R A N Ç A I S E

_________________________

AU NOM DU PEUPLE FRANÇAIS
_________________________

ARRÊT DE LA COUR DE CASSATION, CHAMBRE SOCIALE, DU {day} MARS {year}

La société Tuilerie du Causse, société par actions simplifiée, dont le siège est [Adresse 1], a formé le pourvoi \
n° {letter} {number} contre l'arrêt rendu le 4 mai 2021 par la cour d'appel de Toulouse (4e chambre sociale), dans le \
litige l'opposant :

1°/ à M. [V] [R], domicilié [Adresse 2],

2°/ au syndicat Terre cuite du Quercy, dont le siège est [Adresse 3],

défendeurs à la cassation.

La demanderesse invoque, à l'appui de son pourvoi, le moyen unique de cassation
annexé au présent arrêt.

Le dossier a été communiqué au procureur général.

la chambre sociale de la Cour de cassation, composée, en application de l'article R. 431-5 du code de l'organisation \
judiciaire, des président et conseillers précités, après en avoir délibéré, a rendu le présent arrêt.

Faits et procédure

1. Selon l'arrêt attaqué (Toulouse, 4 mai 2021), M. [R] a été engagé le 7 janvier 2014 par la société Tuilerie du \
Causse en qualité de cuiseur. Il percevait une prime de four de 150 euros par mois.

2. Licencié le 9 octobre 2018, il a saisi la juridiction prud'homale de demandes au titre de cette prime.

Examen du moyen

Enoncé du moyen

3. L'employeur fait grief à l'arrêt de le condamner à payer au salarié un rappel de prime, alors « que la prime qui \
dépend d'un usage peut être dénoncée ; qu'en décidant autrement, la cour d'appel a violé l'article 1103 du code civil ».

Réponse de la Cour

Vu les articles L. 1221-1 et L. 3242-1 du code du travail, ce dernier dans sa rédaction issue de la loi n° 2008-789 du \
20 août 2008, et 1103 du code civil :

4. Il résulte de ces textes que l'employeur qui dénonce un usage doit en informer chaque salarié individuellement et \
respecter un délai de prévenance suffisant.

5. Pour condamner l'employeur, l'arrêt retient que la prime figurait au contrat.

6. En statuant ainsi, sans rechercher si la prime résultait d'un usage, la cour d'appel a privé sa décision de base \
légale au regard de l'article L. 3242-1 du même code.

PAR CES MOTIFS, la Cour :

{orders}

Ainsi fait et jugé par la Cour de cassation, chambre sociale, et prononcé par le président en son audience publique du \
{spelt} mars deux mille vingt-deux.

MOYEN ANNEXE au présent arrêt

Moyen produit par la SCP Untel, avocat aux Conseils, pour la société Tuilerie du Causse

La société reproche à l'arrêt d'avoir violé l'article L. 9999-1 du code du travail et l'article 455 du code de \
procédure civile.
"""

QUASHED = """CASSE ET ANNULE, mais seulement en ce qu'il condamne la société Tuilerie du Causse à payer un rappel de \
prime, l'arrêt rendu le 4 mai 2021, entre les parties, par la cour d'appel de Toulouse ;

DIT n'y avoir lieu à renvoi ;

Condamne M. [R] à payer à la société Tuilerie du Causse la somme de 1 250,50 euros ;

En application de l'article 700 du code de procédure civile, condamne M. [R] à payer à la société la somme de \
3 000 euros ;"""

APPEAL = """RÉPUBLIQUE FRANÇAISE
AU NOM DU PEUPLE FRANÇAIS

COUR D'APPEL DE NANTUA

2ème chambre civile

ARRÊT DU 21 MARS 2023

N° RG 21/01987 - N° Portalis DBVX-V-B7F-ABCD

Décision déférée à la Cour : Jugement du 3 février 2021 - Tribunal judiciaire de Belley - RG n° 19/00456

APPELANTE :
S.A.R.L. LES RUCHERS DU BUGEY
[Adresse 1]
représentée par Me Une

INTIMÉ :
Monsieur [K] [P]
né le [Date naissance 1]

FAITS ET PROCÉDURE

Par acte du 5 juin 2019, M. [P] a fait assigner la société Les Ruchers du Bugey devant le tribunal judiciaire de Belley.

MOTIFS DE LA DÉCISION

Il résulte de l'article 1240 du code civil que tout fait quelconque de l'homme qui cause à autrui un dommage oblige \
celui par la faute duquel il est arrivé à le réparer. Il convient de confirmer le jugement sur ce point.

PAR CES MOTIFS

La cour, statuant publiquement et contradictoirement,

CONFIRME le jugement déféré sauf en ce qu'il a rejeté la demande de M. [P] ;

Statuant à nouveau,

CONDAMNE la société Les Ruchers du Bugey à payer à M. [P] la somme de 12.500 euros à titre de dommages-intérêts ;

Prononcé par mise à disposition de l'arrêt au greffe de la cour le 21 mars 2023.

LE GREFFIER LE PRÉSIDENT
"""

COUNCIL = """CONSEIL D'ÉTAT
statuant
au contentieux

N° 498761
__________
ASSOCIATION DES RIVES DU LOIR
__________
Séance du 5 mars 2024
Décision du 14 mars 2024
__________

Le Conseil d'État statuant au contentieux
(Section du contentieux, 6ème et 5ème chambres réunies)

Vu la procédure suivante :

Par une requête, enregistrée le 2 mai 2023, l'association demande l'annulation du décret n° 2023-11 du 6 janvier 2023.

Considérant ce qui suit :

1. Aux termes de l'article L. 121-1 du code de l'environnement, le public est informé. Il résulte de ces dispositions \
que la consultation doit précéder la décision.

D E C I D E :

Article 1er : La requête de l'association des rives du Loir est rejetée.

Article 2 : La présente décision sera notifiée à l'association.

Délibéré à l'issue de la séance du 5 mars 2024.
"""

EXHIBITS = """COUR D'APPEL DE NANTUA
N° RG 21/01987

BORDEREAU DE PIÈCES COMMUNIQUÉES

1. Contrat du 4 mars 2018
2. Facture n° 2018-114 de 12.500 euros
3. Mise en demeure du 2 mai 2019
"""


def social(number: str = "21-18.442", *, day: int = 14, letter: str = "F", **changes: str) -> str:
    """A judgement of the social chamber of the Cour de cassation, of March 2022."""
    fields = {"solution": "Cassation partielle sans renvoi", "orders": QUASHED, "spelt": NUMERALS[day], "year": "2022"}
    return SOCIAL.format(number=number, day=day, letter=letter, **{**fields, **changes})


def text_of(words: str) -> DocumentText:
    """The text of a document of one page."""
    return DocumentText("0" * 64, words, (Page(1, "read", "", 0, len(words), 595, 842),), "fr")


def rulings(folder: Path, count: int) -> Path:
    """A folder of PDFs, each its own decision; after a few, days repeat and numbers do not."""
    folder.mkdir(parents=True, exist_ok=True)
    days = sorted(NUMERALS)
    for place in range(count):
        words = social(f"21-18.{400 + place}", day=days[place % len(days)])
        printed(folder / f"arret_{place:03d}.pdf", words)
    return folder


def printed(path: Path, words: str) -> Path:
    """The words set as a PDF of several pages, lines broken as a printer breaks them."""
    lines = [line for part in words.split("\n") for line in (textwrap.wrap(part, 88) or [""])]
    canvas = Canvas(str(path), invariant=1)
    for start in range(0, len(lines), 48):
        for place, line in enumerate(lines[start : start + 48]):
            canvas.drawString(60, 790 - 15 * place, line)
        canvas.showPage()
    canvas.save()
    return path
