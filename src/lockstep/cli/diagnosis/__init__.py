"""What ``lockstep doctor`` looks at; nothing here changes anything, or needs what it looks for.

``symptom.py`` is what is found, ``packages.py`` looks at Python, at what lockstep needs and at its
extras, ``machine.py`` at the processor and at tools, ``caches.py`` at what is kept on disk.
"""

from importlib import import_module

from lockstep.cli.diagnosis.symptom import Severity, Symptom

SECTIONS = {
    "packages": ("packages", "packages"),
    "machine": ("machine", "machine"),
    "tools": ("machine", "tools"),
    "cache": ("caches", "caches"),
    "extras": ("packages", "extras"),
}
"""What is looked at, in which order: each a module here, and its function."""

__all__ = ["SECTIONS", "Severity", "Symptom", "look"]


def look(section: str) -> list[Symptom]:
    """What was found; where it cannot even be looked for, that is a problem, and no traceback."""
    module, function = SECTIONS[section]
    try:
        return list(getattr(import_module(f"{__name__}.{module}"), function)())
    except (ImportError, OSError) as error:
        advice = "reinstall lockstep with what it needs, see packages"
        return [Symptom(section, f"cannot be looked at: {error}", Severity.PROBLEM, advice)]
