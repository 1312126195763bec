"""The statement as an entry of the OpenDP deployments registry, in YAML.

The shape is `schemas/deployments-schema.yaml` of github.com/opendp/deployments-registry-data at commit 3e9c812 (July
2026). What a contract cannot know is left to the author and marked with TODO; the entry is a draft.
"""

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from sottovoce.report import odds
from sottovoce.report.statement import words
from sottovoce.report.statement.facts import Facts
from sottovoce.report.statement.text import processed, report_fields
from sottovoce.report.terms import choices, size, spelled

TODO = "TODO"
SLUG = re.compile(r"[a-z][a-z0-9]*(-+[a-z0-9]+)+")


def as_registry_entry(facts: Facts, published: datetime.date) -> str:
    """The entry, to be completed by its author; `published` is the day on which the task is first used."""
    return "\n".join(_yaml(entry(facts, published))) + "\n"


def entry(facts: Facts, published: datetime.date) -> dict[str, Any]:
    """The same as data."""
    basic = _basic(facts, published)
    return {
        "url_slug": _slug(basic["name"], *basic["data_curators"], f"{published.year}"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": basic,
            "dp_variant": _variant(facts),
            "privacy_loss": _loss(facts),
            "deployment_model": _model(facts),
            "accounting": _accounting(facts),
            "implementation": _implementation(facts),
            "administrative": {
                "sources": TODO + ": where people can read about it",
                "notes": f"Made by `sottovoce statement` from the contract with digest {facts.digest}.",
                "registry_authors": [TODO],
            },
        },
    }


def _basic(facts: Facts, published: datetime.date) -> dict[str, Any]:
    return {
        "name": facts.name,
        "data_curators": [TODO],
        "intended_use": f"{TODO}: your purpose. The task learns which to choose: {choices(facts.contract)}.",
        "data_product_type": "Machine learning model" if facts.contextual else "Summary statistics",
        "data_product_region": TODO,
        "description": f"{facts.name}: a bandit ({facts.learning.learner}) that learns from private reports which "
        f"action has the highest reward.",
        "publication_date": published.isoformat(),
    }


def _variant(facts: Facts) -> dict[str, str]:
    warm = "Unknown from the contract alone." if facts.warm is None else f"{facts.warm:,} rows without noise."
    return {
        "variant_name": "Approximate DP" if facts.promise.delta else "Pure DP",
        "data_domain": f"One person at one decision: {processed(facts)}.",
        "unprotected_quantities": _lines(
            f"Of a report: {', '.join(name for name in report_fields(facts) if name != 'payload')}, its time and the "
            "network address.",
            *([] if facts.contextual else ["The offered action, which the server chose."]),
            f"Data that the task started from: {warm}",
        ),
    }


def _loss(facts: Facts) -> dict[str, Any]:
    promise, limit = facts.promise, facts.contract.limit
    return {
        "privacy_unit": "One report: what one person is and did at one decision",
        "privacy_unit_details": "Two data are adjacent if they are any two values of the data domain: one report of "
        "one person is replaced by another. All reports of one device are limited too; see the parameters.",
        "privacy_parameters": {"epsilon": promise.epsilon} | ({"delta": promise.delta} if promise.delta else {}),
        "privacy_parameters_details": _lines(
            f"One report: {promise}; {odds.in_words(promise)}.",
            *(f"A device may choose a quieter gate: {one.budget}." for one in facts.mechanisms[1:]),
            f"One device in {limit.window_days} days: {facts.window.limit}, {facts.window.reports:,} reports.",
            f"One device ever: {facts.lifetime.limit}, {facts.lifetime.reports:,} reports.",
        ),
    }


def _model(facts: Facts) -> dict[str, str]:
    contract, learning = facts.contract, facts.learning
    return {
        "model_name": "Local",
        "model_name_details": "Each device adds the noise before anything leaves it. " + _shuffler(facts),
        "actors": _lines(
            "The person's device: holds the raw data, adds the noise, keeps the account. It is trusted by its owner.",
            "The app: shows the action and sees the reward. It is trusted by the person.",
            "The server and whoever runs it: see private reports. They are not trusted.",
            "The network: sees that a device talks to the server; TLS hides the rest.",
            "Everybody: may read the contract, the model and the summary.",
        ),
        "release_type": "Many releases",
        "release_type_details": f"Published anew after every {learning.publish_every:,} reports, until "
        f"{contract.expires.isoformat()}. A device stops when its budget is spent.",
        "data_source_type": "Dynamic",
        "data_source_type_details": f"About {learning.horizon:,} reports are expected.",
        "access_type": "Non-interactive",
    }


def _shuffler(facts: Facts) -> str:
    if not facts.batch:
        return "There is no shuffler."
    return (
        f"A shuffler mixes at least {facts.batch:,} reports before the server reads them. The parameters here are "
        f"those of the device and do not depend on it. {TODO}: who runs the shuffler."
    )


def _accounting(facts: Facts) -> dict[str, str]:
    gaussian = " Gaussian reports are added up by their distances." if facts.promise.delta else ""
    return {
        "post_processing": f"The learner {facts.learning.learner} and all that it publishes.",
        "composition": "Sequential, on each device, before a report is drawn, and as if the server chose every budget "
        f"in the light of earlier answers.{gaussian}",
    }


def _implementation(facts: Facts) -> dict[str, str]:
    contract, own = facts.contract, facts.mechanisms[0]
    return {
        "preprocessing_and_hyperparameter_tuning": "Ranges are declared in the contract, and what lies outside is cut "
        "on the device. " + TODO + ": how you chose epsilon.",
        "mechanisms": _lines(
            f"{contract.mechanism}, {size(own.report_size)} a report: {words.MECHANISMS[contract.mechanism]}",
            "Whole numbers and randomness of the operating system; no floating-point noise.",
            f"Reports leave {spelled(contract.reward.wait)} after the decision plus up to {spelled(contract.delay)}, "
            "all of one length.",
            f"Single reports are deleted after {spelled(contract.retention)}.",
            "Software: Sottovoce. `sottovoce audit` attacks its mechanisms from outside.",
        ),
        "justification": TODO,
    }


def _lines(*sentences: str) -> str:
    return "".join(f"- {sentence}\n" for sentence in sentences)


def _slug(*parts: str) -> str:
    """As the registry makes it.

    >>> _slug("Which headline?", "TODO", "2026")
    'which-headline--todo-2026'
    """
    return "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")


def _yaml(value: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    r"""Lists of sentences as blocks; every other text in double quotes, where JSON and YAML agree.

    >>> print("\n".join(_yaml({"a": {"b": "x: y", "c": ["z"]}, "d": "- one\n- two\n"})))
    a:
      b: "x: y"
      c:
        - "z"
    d: |
      - one
      - two
    """
    deeper = indent + "  "
    for key, one in value.items():
        if isinstance(one, dict):
            yield f"{indent}{key}:"
            yield from _yaml(one, deeper)
        elif isinstance(one, list):
            yield f"{indent}{key}:"
            yield from (f"{deeper}- {_scalar(item)}" for item in one)
        elif isinstance(one, str) and one.endswith("\n"):
            yield f"{indent}{key}: |"
            yield from (deeper + line for line in one.splitlines())
        else:
            yield f"{indent}{key}: {_scalar(one)}"


def _scalar(value: str | float) -> str:
    """A number without an exponent, because YAML reads 1e-05 as a word; the slug as it is, which the registry wants."""
    if not isinstance(value, str):
        return f"{Decimal(repr(value)):f}"
    return value if SLUG.fullmatch(value) else json.dumps(value, ensure_ascii=False)
