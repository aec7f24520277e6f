"""Putting launches into strata."""

import numpy as np


def members(labels: np.ndarray) -> list[np.ndarray]:
    """The rows of each label 0, 1, ..., in order; int64 arrays."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def joined(*columns: np.ndarray) -> np.ndarray:
    """A label, from 0 without gaps, of each distinct row of several columns; int64."""
    labels = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values = np.unique(column, return_inverse=True)[1]
        labels = np.unique(labels * (values.max() + 1) + values, return_inverse=True)[1]
    return labels
