"""The mutants drawn depend neither on the number of workers nor on where a run was stopped. `make mutants` runs this first."""
import random
import threading

import operators
from draws import Draw, Queue, key_of


def mutant(area, number):
    return operators.Mutant(area, f'{area}.c', number, 'f', 'negate', 0, 1, '', f'{area} {number}', '', False)


def verdict_of(m):
    """In each area the third mutant does not compile, and the fifth survives."""
    return 'uncompilable' if m.line == 2 else 'survived' if m.line == 4 else 'killed'


def drawn(jobs, known, most=1000):
    """The counted mutants of two draws that share changes, with this number of workers, all of which stop after this number of verdicts."""
    both = [mutant(area, number) for number in range(12) for area in ('gen', 'ir')]
    draws = [Draw('seed 1', both, 6), Draw('seed 2', list(reversed(both)), 8), Draw('holes', [mutant('gen', 0), mutant('list', 1)])]
    queue = Queue(draws, lambda m: known.get(key_of(m)), lambda m: m.line == 1)
    dice, judged = random.Random(jobs), []

    def work():
        while len(judged) < most:
            found = queue.take()
            if not found:
                return
            share, m = found
            if dice.random() < 0.3:
                threading.Event().wait(0.001)
            judged.append(m)
            known[key_of(m)] = verdict_of(m)
            queue.give(share, m, verdict_of(m))
        queue.close()
    workers = [threading.Thread(target=work) for _ in range(jobs)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert len(judged) == len(set(map(key_of, judged))), 'judged twice'
    return {(d.name, s.area): sorted((m.line, v) for m, v in s.counted) for d in draws for s in d.shares}


def test():
    alone = drawn(1, {})
    assert alone['seed 1', 'gen'] == [(0, 'killed'), (3, 'killed'), (4, 'survived'), (5, 'killed'), (6, 'killed'), (7, 'killed')], alone
    assert len(alone['seed 2', 'ir']) == 8 and (4, 'survived') in alone['seed 2', 'ir'], alone
    assert alone['holes', 'gen'] == [(0, 'killed')] and alone['holes', 'list'] == [], alone
    for jobs in (2, 7, 30):
        assert drawn(jobs, {}) == alone, jobs
    known = {}
    drawn(3, known, most=5)
    queue = Queue([Draw('seed 1', [mutant('gen', number) for number in range(12)], 6)], lambda m: known.get(key_of(m)), lambda m: False)
    queue.settle_known()
    share = queue.draws[0].shares[0]
    assert len(share.counted) + share.unknown == 6 and share.unknown, 'what is known of later ones counts before the first are judged'
    assert 5 <= len(known) < 20 and drawn(4, known) == alone, 'it does not go on where it was stopped'


if __name__ == '__main__':
    test()
