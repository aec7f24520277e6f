"""Campaigns: many points, each a run of its own, over processes, Dask or Ray, into one table.

Read ``point.py`` and ``evaluators.py``: what a point is and what comes of it; ``attempts.py``,
``pool.py`` and ``executors.py``: where that happens; ``journal.py``: what is kept;
``runner.py``: the whole; then ``description.py``, points from TOML.
"""

from lockstep.campaigns.attempts import Attempt
from lockstep.campaigns.description import read_points
from lockstep.campaigns.evaluators import evaluate
from lockstep.campaigns.executors import EXECUTORS, PointExecutor, executor
from lockstep.campaigns.journal import PointJournal
from lockstep.campaigns.point import SweepPoint, code_digest
from lockstep.campaigns.runner import Campaign, CampaignPoint, CampaignState, campaign, evaluated

__all__ = [
    "EXECUTORS",
    "Attempt",
    "Campaign",
    "CampaignPoint",
    "CampaignState",
    "PointExecutor",
    "PointJournal",
    "SweepPoint",
    "campaign",
    "code_digest",
    "evaluate",
    "evaluated",
    "executor",
    "read_points",
]
