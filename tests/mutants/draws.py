"""In: changes drawn by seeds or read from lists, and what is known of them. Out: the next change to judge, for any number of workers; at
the end the counts. The mutants that count do not depend on the number of workers: in each area, the first N of the draw that compile and
change the object code."""
import collections
import threading


def key_of(mutant):
    return mutant.function, mutant.old_text, mutant.new_text


class Share:
    """One area of a draw: the mutants in order, how many of them are to count."""

    def __init__(self, area, mutants, wanted):
        self.area, self.mutants, self.wanted = area, mutants, wanted
        self.at, self.under_way, self.unknown, self.counted = 0, 0, 0, []

    def settle(self, mutant, verdict):
        if verdict in ('killed', 'survived'):
            self.counted.append((mutant, verdict))


class Draw:
    """The mutants of one seed, of which `each` are wanted in every area, or of one list, all of which are wanted (each None). Areas take
    turns."""

    def __init__(self, name, mutants, each=None):
        by_area = collections.defaultdict(list)
        for m in mutants:
            by_area[m.area].append(m)
        self.name, self.turn = name, 0
        self.shares = [Share(area, found, len(found) if each is None else each) for area, found in sorted(by_area.items())]


class Queue:
    """`known(mutant)` is a verdict from before or None; `skip(mutant)`: listed in equivalent.txt, so not tried."""

    def __init__(self, draws, known, skip):
        self.draws, self.known, self.skip = draws, known, skip
        self.changed, self.under_way, self.closed = threading.Condition(), set(), False

    def next_of(self, share):
        """The next mutant to judge; None if there is none, or none until another verdict is known."""
        while share.at < len(share.mutants) and len(share.counted) + share.under_way < share.wanted:
            m = share.mutants[share.at]
            if key_of(m) in self.under_way: # another draw has it, too
                return None
            share.at += 1
            if self.skip(m):
                continue
            verdict = self.known(m)
            if verdict is None:
                return m
            share.settle(m, verdict)
        return None

    def find(self):
        for draw in self.draws:
            for i in range(len(draw.shares)):
                share = draw.shares[(draw.turn + i) % len(draw.shares)]
                m = self.next_of(share)
                if m:
                    draw.turn = (draw.turn + i + 1) % len(draw.shares)
                    return share, m
        return None

    def take(self):
        """(share, mutant), or None at the end. Waits if the next one depends on a mutant that is being judged."""
        with self.changed:
            while True:
                found = None if self.closed else self.find()
                if found:
                    found[0].under_way += 1
                    self.under_way.add(key_of(found[1]))
                if found or self.closed or not self.under_way:
                    self.changed.notify_all()
                    return found
                self.changed.wait()

    def give(self, share, mutant, verdict):
        with self.changed:
            share.under_way -= 1
            self.under_way.discard(key_of(mutant))
            share.settle(mutant, verdict)
            self.changed.notify_all()

    def close(self):
        """No worker gets another mutant."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def settle_known(self):
        """Counts verdicts of earlier runs, in the order of the draw, up to the first mutant without one."""
        for share in (s for draw in self.draws for s in draw.shares):
            while share.at < len(share.mutants) and len(share.counted) + share.unknown < share.wanted:
                m = share.mutants[share.at]
                share.at += 1
                verdict = None if self.skip(m) else self.known(m)
                share.unknown += not verdict and not self.skip(m)
                share.settle(m, verdict)
