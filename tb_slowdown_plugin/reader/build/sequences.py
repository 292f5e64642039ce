"""Which records of a session are known: in as few numbers as there are gaps."""

from __future__ import annotations

from bisect import bisect_right


class Sequences:
    """A set of whole numbers that come almost in order, kept as ranges without a gap.

    >>> known = Sequences()
    >>> [known.add(number) for number in (0, 1, 5, 4)]
    [None, None, None, None]
    >>> 1 in known, 3 in known, 5 in known, len(known.ranges)
    (True, False, True, 2)
    """

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []
        """(first, last) of each, ascending."""

    def __len__(self) -> int:
        return sum(last + 1 - first for first, last in self.ranges)

    def __contains__(self, number: int) -> bool:
        if not self.ranges or number > self.ranges[-1][1]:
            return False
        at = bisect_right(self.ranges, (number, number)) - 1
        near = self.ranges[max(at, 0) : at + 2]
        return any(first <= number <= last for first, last in near)

    def add(self, number: int) -> None:
        """Add a number; one that is known already changes nothing."""
        if number in self:
            return
        first = last = number
        at = bisect_right(self.ranges, (number, number))
        end = at
        if end < len(self.ranges) and self.ranges[end][0] == number + 1:
            last = self.ranges[end][1]
            end += 1
        if at and self.ranges[at - 1][1] == number - 1:
            at -= 1
            first = self.ranges[at][0]
        self.ranges[at:end] = [(first, last)]
