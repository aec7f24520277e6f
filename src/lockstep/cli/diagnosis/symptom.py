"""What was found, and whether it hinders."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How much a finding matters."""

    GOOD = "ok"
    NOTE = "note"  # something could be better, or be had
    PROBLEM = "problem"  # something does not work, or is slow, until it is mended


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing that was looked at. ``facts`` are for programs, the rest for people too."""

    name: str
    found: str
    severity: Severity = Severity.GOOD
    advice: str = ""  # what to do, where there is something to do
    facts: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As in the document of ``--json``."""
        return {
            "name": self.name,
            "found": self.found,
            "severity": str(self.severity),
            "advice": self.advice,
            **self.facts,
        }
