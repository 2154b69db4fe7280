"""What the shipped playbooks and the reading of documents say in English, in French: for a note in that language."""

from __future__ import annotations

import re

PLAYBOOKS = {
    "a change of control has consequences": "un changement de contrôle a des conséquences",
    "a decision without its date cannot be cited": "une décision sans date ne peut être citée",
    "a decision without its number cannot be cited": "une décision sans numéro ne peut être citée",
    "a fixed sum is due": "une somme forfaitaire est due",
    "a party is bound exclusively": "une partie est tenue par une exclusivité",
    "a party must indemnify the other": "une partie doit garantir l’autre",
    "an annex of the contract was not given to us": "une annexe du contrat ne nous a pas été remise",
    "assignment is restricted": "la cession est restreinte",
    "at any time": "à tout moment",
    "competition is restricted": "la concurrence est restreinte",
    "consent may not be refused without reason": "l’accord ne peut être refusé sans motif",
    "data may leave the European Union": "des données peuvent quitter l’Union européenne",
    "delivered as is": "livré en l’état",
    "failing subcontractors excuse the supplier": "la défaillance de sous-traitants exonère le fournisseur",
    "for two years or longer": "pour deux ans ou plus",
    "general law decides": "le droit commun s’applique",
    "gross negligence or intent is dealt with": "la faute lourde ou le dol est réservé",
    "interest of 18 % a year or more": "intérêts de 18 % par an ou plus",
    "it costs money": "c’est payant",
    "it is about prices, service levels or data": "il porte sur les prix, les niveaux de service ou les données",
    "it is the only remedy": "c’est le seul recours",
    "it needs consent": "un accord est requis",
    "it reaches a merger or a change of control": "une fusion ou un changement de contrôle est visé",
    "judgments are hard to enforce there": "les jugements y sont difficiles à exécuter",
    "leaving early costs a fee": "une sortie anticipée est payante",
    "liability is called unlimited": "la responsabilité est dite illimitée",
    "loss of data is excluded": "la perte de données est exclue",
    "no time of payment is stated": "aucun délai de paiement n’est indiqué",
    "no warranty period is stated": "aucune durée de garantie n’est indiquée",
    "nobody indemnifies against claims of third parties": "personne ne garantit contre les réclamations de tiers",
    "notice is due three months ahead or earlier": "le préavis est de trois mois ou plus",
    "others process the data too": "d’autres traitent aussi les données",
    "payment is due after more than 60 days": "le paiement est dû à plus de 60 jours",
    "payment is due in advance": "le paiement est dû d’avance",
    "payments are not given back": "les paiements ne sont pas restitués",
    "personal data is processed": "des données personnelles sont traitées",
    "some liability is not limited": "une part de la responsabilité n’est pas limitée",
    "strikes excuse the supplier": "la grève exonère le fournisseur",
    "the cap is a multiple of the fees": "le plafond est un multiple des redevances",
    "the cap is at most six months of fees": "le plafond est de six mois de redevances au plus",
    "the cap is at most three months of fees": "le plafond est de trois mois de redevances au plus",
    "the contract can be ended because of it": "le contrat peut être résilié pour cette cause",
    "the contract can be ended without cause": "le contrat peut être résilié sans motif",
    "the contract does not say which law applies": "le contrat ne dit pas quel droit s’applique",
    "the contract is renewed after its term": "le contrat est renouvelé à son terme",
    "the contract sets no limit, so general law decides": "le contrat ne fixe aucune limite : le droit "
    "commun s’applique",
    "the customer cannot leave without cause": "le client ne peut partir sans motif",
    "the customer indemnifies the supplier": "le client garantit le fournisseur",
    "the customer is restricted": "le client est restreint",
    "the customer may leave": "le client peut partir",
    "the customer may not audit the supplier": "le client ne peut auditer le fournisseur",
    "the customer may not buy elsewhere": "le client ne peut acheter ailleurs",
    "the customer must insure": "le client doit s’assurer",
    "the customer pays it": "c’est le client qui la paie",
    "the customer's information is not protected": "les informations du client ne sont pas protégées",
    "the customer's own liability is unlimited": "la responsabilité du client lui-même est illimitée",
    "the customer's payments are among what is not limited": "les paiements du client ne sont pas plafonnés",
    "the indemnity is broad": "la garantie est large",
    "the law is not that of a member state of the European Union": "le droit n’est pas celui d’un État membre de "
    "l’Union européenne",
    "the limit holds for both parties": "la limite vaut pour les deux parties",
    "the limit protects the supplier only": "la limite ne protège que le fournisseur",
    "the notice is a month": "le préavis est d’un mois",
    "the notice is at most 15 days": "le préavis est de 15 jours au plus",
    "the operative part was not recognised": "le dispositif n’a pas été reconnu",
    "the party may insure itself": "la partie peut être son propre assureur",
    "the regulation is named": "le règlement est nommé",
    "the restriction binds the customer": "la restriction lie le client",
    "the supplier audits the customer": "le fournisseur audite le client",
    "the supplier indemnifies": "le fournisseur garantit",
    "the supplier may assign freely": "le fournisseur peut céder librement",
    "the supplier may hand the contract to anybody": "le fournisseur peut céder le contrat à quiconque",
    "the supplier may leave without cause": "le fournisseur peut partir sans motif",
    "the supplier need not be insured": "le fournisseur n’a pas à s’assurer",
    "the supplier pays it": "c’est le fournisseur qui la paie",
    "the supplier's liability is limited": "la responsabilité du fournisseur est limitée",
    "the warranty is limited in time": "la garantie est limitée dans le temps",
    "the warranty lasts at most 90 days": "la garantie dure 90 jours au plus",
    "what is amended cannot be judged without the agreement itself": "ce qui est modifié ne peut être jugé sans le "
    "contrat lui-même",
    "without an end": "sans terme",
    "without anybody's doing": "sans que personne n’agisse",
    "without compensation": "sans indemnité",
    "without limit in space or time": "sans limite dans l’espace ou le temps",
    "without notice": "sans préavis",
    "it tells an automated reader what to do": "ce texte dit à un lecteur automatique quoi faire",
    "the file says something that the page does not show": "le fichier dit ce que la page ne montre pas",
}
READING = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (
            r"(?P<document>.+) is encrypted and no password for it was given: add it to the file given with "
            r"--passwords\.?",
            "{document} est chiffré et aucun mot de passe n’a été donné : ajoutez-le au fichier donné à --passwords",
        ),
        (
            r"(?P<document>.+) is encrypted and the password given for it is wrong: correct it in the file given with "
            r"--passwords\.?",
            "{document} est chiffré et le mot de passe donné est faux : corrigez-le dans le fichier donné à "
            "--passwords",
        ),
        (
            r"(?P<document>.+) is damaged and could not be repaired \((?P<detail>.*)\): fetch it again\.?",
            "{document} est endommagé et n’a pu être réparé ({detail}) : récupérez-le de nouveau",
        ),
        (
            r"(?P<document>.+) cannot be opened any more \((?P<detail>.*)\): put it back, or start a new run "
            r"without it\.?",
            "{document} ne s’ouvre plus ({detail}) : remettez-le, ou lancez une nouvelle exécution sans lui",
        ),
        (
            r"(?P<document>.+) changed since the run began: start a new run to read it as it is now\.?",
            "{document} a changé depuis le début de l’exécution : lancez-en une nouvelle pour le lire tel qu’il est",
        ),
        (
            r"(?P<document>.+) has (?P<size>\d+) bytes, which is more than the limit of (?P<most>\d+): split it or "
            r"raise the limit\.?",
            "{document} fait {size} octets, plus que la limite de {most} : divisez-le ou relevez la limite",
        ),
        (
            r"(?P<document>.+) is empty \(0 bytes\): fetch it again\.?",
            "{document} est vide (0 octet) : récupérez-le de nouveau",
        ),
        (
            r"(?P<document>.+) is (?P<what>.+), which Reprise does not read: save it as PDF\.?",
            "{document} ({what}) n’est pas d’un format que Reprise lit : enregistrez-le en PDF",
        ),
        (
            r"(?P<document>.+) claims to have (?P<count>.+) pages, which cannot be: check it in a PDF viewer and "
            r"save it anew\.?",
            "{document} dit avoir {count} pages, ce qui ne peut être : vérifiez-le dans une visionneuse et "
            "enregistrez-le de nouveau",
        ),
        (
            r"(?P<document>.+) could not be read within (?P<time>\d+) s and was given up: .+",
            "{document} n’a pu être lu en {time} s et a été abandonné",
        ),
        (
            r"The file is damaged and was read after a repair; parts of it may be missing\.",
            "Le fichier est endommagé et a été lu après réparation ; des parties peuvent manquer.",
        ),
        (
            r"What readers have commented was kept apart, on (?P<where>.+)\.",
            "Les commentaires de lecteurs ont été mis à part, {where}.",
        ),
        (
            r"Text that was struck out with changes tracked was kept apart, on (?P<where>.+)\.",
            "Du texte supprimé en suivi des modifications a été mis à part, {where}.",
        ),
        (
            r"Text that a person does not see \((?P<why>.+)\) was kept apart, on (?P<where>.+)\.",
            "Du texte qu’une personne ne voit pas a été mis à part ({why}), {where}.",
        ),
        (
            r"The text of (?P<where>.+) is the OCR layer that came with the scan; it was not checked\.",
            "Le texte de {where} est la couche de reconnaissance livrée avec la numérisation ; il n’a pas été vérifié.",
        ),
        (
            r"(?P<count>\d+) sentences? of a model's summary left out, since the passages cited do not bear them out\.",
            "Phrases du résumé d’un modèle écartées, faute d’appui dans les passages cités : {count}.",
        ),
        (
            r"No summary by a model: (?P<why>.+)",
            "Pas de résumé par un modèle : {why}",
        ),
        (
            r"(?P<count>\d+) clauses? of an unknown type left out\.",
            "Clauses d’un type inconnu écartées : {count}.",
        ),
        (
            r"(?P<count>\d+) clauses? (?:without a quote|with a quote that is too long) left out\.",
            "Clauses sans citation utilisable écartées : {count}.",
        ),
        (
            r"(?P<count>\d+) clauses? reported twice left out\.",
            "Clauses signalées deux fois, comptées une seule : {count}.",
        ),
        (
            r"The file has no pages: its places are counted in sections, (?P<count>\d+) of them\.",
            "Le fichier n’a pas de pages : ses endroits sont comptés en sections, au nombre de {count}.",
        ),
    )
)
"""Of the sentences about reading those that are met most often; a rarer one stays as it is."""


def french_reading(sentence: str) -> str:
    """A warning, or the reason for which a document was not read, in French where it is known."""
    for pattern, text in READING:
        if match := pattern.fullmatch(sentence):
            return text.format(**match.groupdict())
    return sentence
