"""A plan: which launches are simulated, and what each of them stands for."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from lockstep import notebook
from lockstep.errors import InputError, LockstepError
from lockstep.metrics import output
from lockstep.sampling.documents import read_document
from lockstep.sampling.table import LaunchTable

VERSION = 1
ESTIMATORS = ("expansion", "ratio", "regression")


@dataclass(frozen=True)
class Plan:
    """Launches in strata, some of which are simulated.

    ``stratum`` int32 [launches], numbered from 0 without gaps; ``chosen`` int64, in program order;
    ``probability`` float64, of each chosen launch, with which it was drawn: NaN if it was picked on
    purpose, so that nothing can be said about the error. ``estimator``: how strata are added up,
    see :mod:`lockstep.sampling.estimate`; ``family`` int32 [launches], labels of strata that were
    cut out of one: they share what is not seen of it; ``auxiliary`` float64 [launches] or
    [launches, columns]: what is known of all launches and goes with their times. ``table``: digest
    of the launch table; ``sampler`` and ``parameters``: what made it; ``notes``: what the user
    should know of it. ``margin``: by what intervals are wider than the observed times make them:
    above 1 where a sampler stops as soon as these look good.
    """

    table: str
    sampler: str
    stratum: np.ndarray
    chosen: np.ndarray
    probability: np.ndarray
    estimator: str = "expansion"
    auxiliary: np.ndarray | None = None
    family: np.ndarray | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    margin: float = 1.0

    def __post_init__(self) -> None:
        """Raise :class:`LockstepError` if the parts do not fit together."""
        n = len(self.stratum)
        # Whoever counts launches by stratum needs memory for the largest label.
        labelled = n and 0 <= self.stratum.min() <= self.stratum.max() < n
        if not labelled or not self.sizes.all():
            raise LockstepError("a plan's strata are numbered from 0, and none is empty")
        if len(self.chosen) != len(self.probability):
            raise LockstepError("a plan has a probability for each chosen launch")
        if ((self.probability <= 0) | (self.probability > 1)).any():
            raise LockstepError("the probabilities of a plan are above 0 and at most 1")
        if (np.diff(self.chosen) <= 0).any():
            raise LockstepError("the chosen launches of a plan are in program order, each once")
        if len(wrong := self.chosen[(self.chosen < 0) | (self.chosen >= n)]):
            raise LockstepError(f"a plan of {n} launches chooses launch {wrong[0]}")
        if missing := np.setdiff1d(np.arange(len(self.sizes)), self.stratum[self.chosen]).tolist():
            raise LockstepError(
                f"no launch of stratum {missing[0]} is chosen: nothing stands for it"
            )
        if self.estimator not in ESTIMATORS:
            known = ", ".join(ESTIMATORS)
            raise LockstepError(f"no estimator is named {self.estimator!r}; there are {known}")
        if not 1 <= self.margin < 2:
            raise LockstepError(f"a plan's margin is from 1 to 2, not {self.margin}")
        if (self.estimator != "expansion") != (self.auxiliary is not None):
            raise LockstepError("ratio and regression estimates need an auxiliary, no other does")
        if self.family is not None and len(self.family) != n:
            raise LockstepError(f"a plan of {n} launches has {len(self.family)} labels of families")
        if self.auxiliary is not None and len(self.auxiliary) != n:
            raise LockstepError(f"a plan of {n} launches has {len(self.auxiliary)} auxiliaries")
        if self.auxiliary is not None and not (
            self.auxiliary.size and np.isfinite(self.auxiliary).all()
        ):
            raise LockstepError("the auxiliaries of a plan are finite numbers")
        if self.estimator == "ratio" and not self._of_chosen().all():
            raise LockstepError(
                "a ratio estimate needs auxiliaries: those chosen of a stratum add up to 0"
            )

    @classmethod
    def of(
        cls,
        table: LaunchTable,
        sampler: str,
        stratum: np.ndarray,
        chosen: np.ndarray,
        *,
        drawn: bool,
        **more: Any,
    ) -> Self:
        """A plan from strata of any labels and chosen launches in any order.

        ``drawn``: whether the launches of each stratum were drawn at random, each with the same
        probability; else they were picked.
        """
        labels, picked, probability = _drawn(stratum, chosen)
        if not drawn:
            probability = np.where(probability < 1, np.nan, 1.0)
        return cls(table.digest, sampler, labels, picked, probability, **more)

    def __len__(self) -> int:
        return len(self.stratum)

    def __repr__(self) -> str:
        return (
            f"<Plan by {self.sampler}: {len(self.chosen)} of {len(self)} launches, "
            f"{self.stratum.max() + 1} strata>"
        )

    def _repr_html_(self) -> str:
        """What notebooks show."""
        chosen = np.bincount(self.stratum[self.chosen], minlength=len(self.sizes))
        pairs = zip(self.sizes.tolist(), chosen.tolist())
        return notebook.rows(
            repr(self)[1:-1],
            [{"stratum": n, "launches": a, "simulated": b} for n, (a, b) in enumerate(pairs)],
        )

    @property
    def sizes(self) -> np.ndarray:
        """Launches of each stratum, int64."""
        return np.bincount(self.stratum)

    @property
    def drawn(self) -> bool:
        """Whether all launches were drawn at random, or their strata are simulated whole."""
        return not np.isnan(self.probability).any()

    def weights(self) -> np.ndarray:
        """For how many launches each chosen one stands, float64.

        With a ratio estimate a launch stands for what its stratum has of the auxiliary, divided by
        what the chosen launches of the stratum have.
        """
        strata = self.stratum[self.chosen]
        if self.estimator != "ratio":
            return (self.sizes / np.bincount(strata))[strata]
        return (np.bincount(self.stratum, self._first_auxiliary) / self._of_chosen())[strata]

    @property
    def _first_auxiliary(self) -> np.ndarray:
        assert self.auxiliary is not None
        return self.auxiliary.reshape(len(self), -1)[:, 0]

    def _of_chosen(self) -> np.ndarray:
        """What the chosen launches of each stratum have of the auxiliary."""
        return np.bincount(self.stratum[self.chosen], self._first_auxiliary[self.chosen])

    def redrawn(self, stratum: np.ndarray, chosen: np.ndarray, **changes: Any) -> "Plan":
        """The same with other strata, and other launches drawn at random from each."""
        labels, picked, probability = _drawn(stratum, chosen)
        return replace(self, stratum=labels, chosen=picked, probability=probability, **changes)

    def chooses_as(self, other: "Plan") -> bool:
        """Whether another plan has the same strata of the same launches, and simulates the same."""
        arrays = ("stratum", "chosen")
        return self.table == other.table and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    def check_table(self, table: LaunchTable) -> None:
        """Raise :class:`LockstepError` unless it was made for these launches."""
        if len(table) != len(self):
            raise LockstepError(
                f"the plan is for {len(self)} launches, and there are {len(table)}: profile again"
            )
        if table.digest != self.table:
            raise LockstepError("the plan was made for other launches: profile again")

    def write(self, path: str | Path) -> None:
        """Write it as JSON."""
        output.write_json(path, self.document())

    def document(self) -> dict[str, Any]:
        """What :meth:`write` writes."""
        return {
            "lockstep plan": VERSION,
            "table": self.table,
            "sampler": self.sampler,
            "parameters": self.parameters,
            "notes": list(self.notes),
            "estimator": self.estimator,
            "margin": self.margin,
            "launches": len(self),
            "chosen": self.chosen.tolist(),
            "probability": self.probability.tolist(),
            "stratum": self.stratum.tolist(),
            "auxiliary": None if self.auxiliary is None else self.auxiliary.tolist(),
            "family": None if self.family is None else self.family.tolist(),
        }

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read what :meth:`write` has written; raises :class:`InputError` of anything else."""
        document = read_document(path, "plan")
        return cls.of_document(document, path)

    @classmethod
    def of_document(cls, document: Any, path: str | Path) -> Self:
        """A plan of what :meth:`document` gives, which was in the file at ``path``.

        Raises :class:`InputError` of anything else.
        """
        if not isinstance(document, dict) or document.get("lockstep plan") != VERSION:
            raise InputError(path, "", f"is no plan of version {VERSION}")
        try:
            return cls._of_fields(document)
        except LockstepError as error:
            raise InputError(path, "", str(error)) from None
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(path, "", f"no plan: {error}") from error

    @classmethod
    def _of_fields(cls, document: dict[str, Any]) -> Self:
        auxiliary, family = document["auxiliary"], document["family"]
        stratum = _whole(document["stratum"], np.int32)
        if document["launches"] != len(stratum):
            raise LockstepError(
                f"says {document['launches']} launches, and has strata of {len(stratum)}"
            )
        return cls(
            str(document["table"]),
            str(document["sampler"]),
            stratum,
            _whole(document["chosen"], np.int64),
            np.array([np.nan if p is None else p for p in document["probability"]], np.float64),
            str(document["estimator"]),
            None if auxiliary is None else np.array(auxiliary, np.float64),
            None if family is None else _whole(family, np.int32),
            dict(document["parameters"]),
            tuple(map(str, document["notes"])),
            float(document.get("margin", 1.0)),  # plans had none once
        )


def _whole(numbers: list, kind: type) -> np.ndarray:
    """Whole numbers as an array; raises ValueError for others."""
    if np.array(numbers).dtype.kind == "f" and len(numbers):
        raise ValueError("launches, strata and families are whole numbers")
    return np.array(numbers, kind)


def _drawn(stratum: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of strata, chosen launches in order, and the share of its stratum for each."""
    labels = np.unique(np.asarray(stratum), return_inverse=True)[1].astype(np.int32)
    picked = np.unique(np.asarray(chosen, np.int64))
    share = np.bincount(labels[picked], minlength=labels.max() + 1) / np.bincount(labels)
    return labels, picked, share[labels[picked]]
