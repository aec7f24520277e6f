"""A memory outside of lockstep for tests: it answers everything after the same time."""

import numpy as np

from lockstep.outside import ANSWER


class FixedMemory:
    """Answers ``cycles`` after a request arrived, in an order that ``seed`` draws."""

    def __init__(self, cycles, seed=0):
        self.cycles, self._random = cycles, np.random.default_rng(seed)
        self.interface, self.closed = None, 0
        self.requests, self.ends, self.most = [], [], {}
        self._waiting, self._where = np.zeros(0, ANSWER), {}

    def begin(self, interface):
        self.interface = interface

    def exchange(self, end, requests):
        self.ends.append(end)
        self.requests += requests.tolist()
        out = self._waiting["cycle"] < end
        answers, self._waiting = self._waiting[out], self._waiting[~out]
        came = np.zeros(len(requests), ANSWER)
        came["id"], came["cycle"] = requests["id"], requests["cycle"] + self.cycles
        self._waiting = np.concatenate([self._waiting, came])
        for number, sm, partition in zip(
            requests["id"].tolist(), requests["sm"].tolist(), requests["partition"].tolist()
        ):
            self._where[number] = sm, partition
        under_way = [
            self._where[n] for n in (*self._waiting["id"].tolist(), *answers["id"].tolist())
        ]
        for pair in set(under_way):
            self.most[pair] = max(self.most.get(pair, 0), under_way.count(pair))
        return self._random.permutation(answers)

    def close(self):
        self.closed += 1
