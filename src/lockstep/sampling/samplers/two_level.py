"""Principal Kernel Selection of the first launches, and classifiers for the rest (MICRO 2021, 3.1).

Where a profile of all launches would take too long, the first ones are profiled and put into
groups. Three classifiers learn to tell the groups by what is known of every launch, and label the
others, by majority. Kernels that never occurred among the first launches are groups of their own.
"""

import warnings
from typing import Any

import numpy as np

from lockstep.errors import LockstepError, unknown
from lockstep.sampling.extras import one_thread, sklearn
from lockstep.sampling.light import Light
from lockstep.sampling.plan import Plan
from lockstep.sampling.readings import profiled
from lockstep.sampling.sampler import OneStep, register
from lockstep.sampling.samplers.pks import PrincipalKernelSelection
from lockstep.sampling.table import LaunchTable

CLASSIFIERS = ("sgd", "bayes", "perceptron")
MAJORITY = "majority"
HELD_OUT = 0.2
HIDDEN = 64
ROUNDS = 100  # of the perceptron over what it learns
CHUNK = 8192  # rows that are labelled at a time


@register
class TwoLevel(OneStep):
    """``profiled``: launches that are read as profiled, though the table may have more.

    ``classifier``: sgd, bayes, perceptron, or the majority of them, which is the best one of them
    where all differ; ``selection``: parameters of ``pks``.
    """

    name, level = "two-level", 1
    rest = PrincipalKernelSelection

    def __init__(self, profiled: int = 20_000, classifier: str = MAJORITY, **selection: Any):
        if profiled < 1:
            raise LockstepError(f"of {profiled} profiled launches there are no groups")
        if classifier not in (*CLASSIFIERS, MAJORITY):
            raise LockstepError(unknown("classifier", classifier, (*CLASSIFIERS, MAJORITY)))
        self.profiled, self.classifier = profiled, classifier
        self.selection = PrincipalKernelSelection(**selection)
        self.times = self.selection.times

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """Strata are the groups, and kernels that the profile has not seen."""
        seen = min(self.profiled, profiled(table))
        if not seen:
            raise LockstepError(
                f"{self.name} reads the profile of the first launches, and launch 0 has none"
            )
        first = LaunchTable(table.frame.head(seen), table.unit, table.source)
        group, chosen, notes = self.selection.select(first, random)
        codes = table.codes()
        new = codes - codes[:seen].max() - 1  # kernels are numbered by their first launches
        stratum = np.empty(len(table), np.int64)
        stratum[:seen], stratum[seen:] = group, group.max() + 1 + new[seen:]
        known = seen + np.flatnonzero(new[seen:] < 0)
        accuracy: dict[str, float] = {}
        if len(known):
            stratum[known], accuracy = self._labels(table, group, chosen, known, random)
            notes += (self._note(len(known), accuracy),)
        firsts = np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))
        if (unseen := firsts[firsts >= seen]).size:
            notes += (f"kernels that only launches without a profile run: {len(unseen)}",)
        parameters = self.selection.parameters | {
            "profiled": seen, "classifier": self.classifier, "accuracy": accuracy,
        }  # fmt: skip
        return Plan.of(
            table,
            self.name,
            stratum,
            np.concatenate([chosen, unseen]),
            drawn=False,
            parameters=parameters,
            notes=notes,
        )

    def _labels(
        self,
        table: LaunchTable,
        group: np.ndarray,
        chosen: np.ndarray,
        launches: np.ndarray,
        random: np.random.Generator,
    ) -> tuple[np.ndarray, dict[str, float]]:
        """Groups of launches, and the share of launches held out of which each was right."""
        if not group.any():
            return np.zeros(len(launches), np.int64), {}
        light = Light.of(table, len(group))
        row = light.rows.row
        # Every group is learned: its representative is not held out.
        others = random.permutation(np.setdiff1d(np.arange(len(group)), chosen))
        held = np.sort(others[: round(HELD_OUT * len(group))])
        learned = np.setdiff1d(np.arange(len(group)), held)
        with one_thread():
            models = _learn(light.features(row[learned]), group[learned], random)
            votes = _votes(models, light, row[held])
            accuracy = {
                name: float((vote == group[held]).mean())
                for name, vote in zip(CLASSIFIERS, votes)
                if len(held)
            }
            best = int(np.argmax(list(accuracy.values()))) if accuracy else 0
            if len(held):
                accuracy[MAJORITY] = float((_majority(votes, best) == group[held]).mean())
            rows, back = np.unique(row[launches], return_inverse=True)
            votes = _votes(models, light, rows)
        if self.classifier == MAJORITY:
            return _majority(votes, best)[back], accuracy
        return votes[CLASSIFIERS.index(self.classifier)][back], accuracy

    def _note(self, launches: int, accuracy: dict[str, float]) -> str:
        if not accuracy:
            return f"launches that were labelled without a profile: {launches}"
        right = ", ".join(f"{name} {share:.1%}" for name, share in accuracy.items())
        return f"launches that {self.classifier} labelled: {launches}; right when held out: {right}"


def _learn(features: np.ndarray, group: np.ndarray, random: np.random.Generator) -> list[Any]:
    """The three classifiers, fitted; they scale features by themselves."""
    seeds = [int(random.integers(2**31)) for _ in range(2)]
    classifiers = [
        sklearn("linear_model").SGDClassifier(loss="log_loss", random_state=seeds[0]),
        sklearn("naive_bayes").GaussianNB(),
        sklearn("neural_network").MLPClassifier((HIDDEN,), max_iter=ROUNDS, random_state=seeds[1]),
    ]
    models = []
    for classifier in classifiers:
        scale = sklearn("preprocessing").StandardScaler()
        model = sklearn("pipeline").make_pipeline(scale, classifier)
        with warnings.catch_warnings():  # that it could have learned for longer
            warnings.simplefilter("ignore")
            models.append(model.fit(features, group))
    return models


def _votes(models: list[Any], light: Light, rows: np.ndarray) -> np.ndarray:
    """Int64 [models, rows]: the group that each says."""
    votes = np.empty((len(models), len(rows)), np.int64)
    for begin in range(0, len(rows), CHUNK):
        part = slice(begin, begin + CHUNK)
        features = light.features(rows[part])
        for vote, model in zip(votes, models):
            with np.errstate(divide="ignore", invalid="ignore"):  # where no feature varies
                vote[part] = model.predict(features)
    return votes


def _majority(votes: np.ndarray, best: int) -> np.ndarray:
    """What two of three say; where all differ, what the best one says."""
    first, second, third = votes
    else_best = np.where((first == second) | (first == third), first, votes[best])
    return np.where(second == third, second, else_best)
