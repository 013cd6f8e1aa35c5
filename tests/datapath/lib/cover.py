"""cover.py [-STRENGTH] NAME=VALUE,VALUE... - lines "NAME=VALUE NAME=VALUE ...": one test each

Every two values of different names meet in some line, or every STRENGTH values. The same arguments
give the same lines.
"""
import itertools
import random
import sys

CANDIDATES = 60


def meetings(line, strength):
    return set(itertools.combinations(enumerate(line), strength))


def every_meeting(values, strength):
    places = [[(i, v) for v in each] for i, each in enumerate(values)]
    for some in itertools.combinations(places, strength):
        yield from itertools.product(*some)


def cover(values, strength, rng):
    """Greedy: of some lines that have an open meeting, the one that has most of them."""
    order = list(every_meeting(values, strength))
    rng.shuffle(order)
    todo = set(order)
    while todo:
        while order[-1] not in todo:
            order.pop()
        best, most = None, set()
        for _ in range(CANDIDATES):
            line = [rng.choice(v) for v in values]
            for i, value in order[-1]:
                line[i] = value
            new = meetings(line, strength) & todo
            if len(new) > len(most):
                best, most = line, new
        todo -= most
        yield best


def main():
    strength, args = 2, sys.argv[1:]
    if args[0].startswith("-"):
        strength = int(args.pop(0)[1:])
    names = [a.partition("=")[0] for a in args]
    values = [a.partition("=")[2].split(",") for a in args]
    for line in cover(values, strength, random.Random(1)):
        print(*(f"{n}={v}" for n, v in zip(names, line)))


main()
