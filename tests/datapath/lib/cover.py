"""cover.py [--all] NAME=VALUE,VALUE... - lines "NAME=VALUE NAME=VALUE ...": one test each

Every two values of different names meet in some line; with --all, in every combination. The same
arguments give the same lines.
"""
import itertools
import random
import sys


def pairs(line):
    return set(itertools.combinations(enumerate(line), 2))


def cover(values, rng):
    """Greedy: of some lines that have an open pair, the one that has most of them."""
    todo = {pair for (i, a), (k, b) in itertools.combinations(enumerate(values), 2)
            for pair in itertools.product([(i, v) for v in a], [(k, v) for v in b])}
    while todo:
        candidates = []
        for _ in range(60):
            line = [rng.choice(v) for v in values]
            (i, a), (k, b) = rng.choice(sorted(todo))
            line[i], line[k] = a, b
            candidates.append(line)
        best = max(candidates, key=lambda line: len(pairs(line) & todo))
        todo -= pairs(best)
        yield best


def main():
    args = [a for a in sys.argv[1:] if a != "--all"]
    names = [a.partition("=")[0] for a in args]
    values = [a.partition("=")[2].split(",") for a in args]
    lines = itertools.product(*values) if "--all" in sys.argv else cover(values, random.Random(1))
    for line in lines:
        print(*(f"{n}={v}" for n, v in zip(names, line)))


main()
