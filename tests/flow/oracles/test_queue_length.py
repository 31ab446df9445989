"""The arithmetic of queue lengths against a simulated queue whose workers have all just begun when it fills up."""

from __future__ import annotations

import heapq
from math import ceil

from hypothesis import given, settings
from hypothesis import strategies as st
from resilint.flow.queues import Load

loads = st.builds(
    Load,
    size=st.integers(1, 60),
    batch=st.integers(1, 5),
    workers=st.integers(1, 5),
    work=st.integers(1, 20).map(float),
    patience=st.integers(1, 200).map(float),
    safety=st.sampled_from([0.5, 0.7, 1.0]),
)


def done_at(load: Load) -> list[float]:
    """When each place of a full queue is done: workers take up to a batch each time they are free."""
    free = [load.work] * load.workers
    heapq.heapify(free)
    out: list[float] = []
    while len(out) < load.size:
        end = heapq.heappop(free) + load.work
        out.extend([end] * min(load.batch, load.size - len(out)))
        heapq.heappush(free, end)
    return out


@given(loads)
def test_the_last_one_is_done_when_the_formula_says(load: Load) -> None:
    assert done_at(load)[-1] == load.last


@given(loads)
def test_whoever_stands_in_a_served_place_is_done_in_time_and_nobody_behind(load: Load) -> None:
    in_time = sum(end < load.patience for end in done_at(load))
    assert in_time == min(load.served, load.size)


@given(loads)
def test_the_safe_size_is_the_largest_that_is_not_too_long(load: Load) -> None:
    if load.safe:
        assert not load._replace(size=load.safe).too_long
    assert load._replace(size=load.safe + 1).too_long


@given(loads)
def test_a_size_that_is_not_too_long_serves_everybody_in_time(load: Load) -> None:
    if not load.too_long:
        assert max(done_at(load)) < load.patience
        assert ceil(load.size / load.batch) * load.work / load.workers < load.safety * load.patience


@given(loads, st.integers(1, 20))
@settings(max_examples=50)
def test_more_workers_or_patience_never_make_a_queue_too_long(load: Load, more: int) -> None:
    if not load.too_long:
        assert not load._replace(workers=load.workers + more).too_long
        assert not load._replace(patience=load.patience + more).too_long
