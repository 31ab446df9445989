"""Queues whose declared load, with what callers ask again, is more than what is served at the worst: they never drain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilint.flow.queues import say
from resilint.flow.timeouts import Fault
from resilint.model import Confidence, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program


def overloaded_queues(program: Program) -> Iterator[Fault]:
    """One fault for each declared queue to which at least as much may come as is served at its worst, where it is declared."""
    settings = program.settings
    for service in settings.services.values():
        asking = max(service.callers.values(), key=lambda caller: caller.retries or 0, default=None)
        retries = (asking.retries or 0) if asking is not None else 0
        for queue in service.queues.values():
            place = ("services", service.name, "queues", queue.name)
            span = settings.place_or_start(*place)
            time, rate = queue.worst_service_time or queue.service_time, queue.arrival_rate
            if time is None or rate is None or time <= 0 or rate <= 0:
                continue
            workers, sure = queue.workers, Confidence.HIGH
            steps = [Step(settings.places.get((*place, "arrival_rate"), span), f"{_rate(rate, queue.batch)} come (declared)")]
            key = "worst_service_time" if queue.worst_service_time is not None else "service_time"
            steps.append(Step(settings.places.get((*place, key), span), f"one takes {say(time)} (declared)"))
            if workers is None:
                found = program.queues.workers_of(service, queue.name)
                if found is None:
                    continue
                workers, sure, more = found
                steps += more
            served = workers / time
            load = rate * (1 + retries)
            if load < served * (1 - 1e-9):
                continue
            crew = f"{workers} worker{'s' if workers != 1 else ''}"
            said = f"{_rate(rate, queue.batch)} come"
            if retries and asking is not None:
                steps.append(
                    Step(
                        settings.place_or_start("services", service.name, "callers", asking.name),
                        f"{asking.name} asks {retries} time{'s' if retries != 1 else ''} again (declared)",
                    )
                )
                again = f"(1 + {retries} {'retry' if retries == 1 else 'retries'} of {asking.name})"
                said = f"{_rate(rate, queue.batch)} × {again} = {_rate(load, queue.batch)} may come"
                others = [c for c in service.callers.values() if c.retries is not None and c.retries != retries]
                # How the rate is shared among the callers is not declared; it does not matter where new work alone is too much.
                sure = min(sure, Confidence.MEDIUM) if others and rate < served else sure
            said += f" ≥ {crew} ÷ {say(time)} = {_rate(served, queue.batch)} served at the worst"
            said += ": once it has grown it cannot drain" if rate < served else ": as long as that lasts it grows"
            yield Fault(span, said, Value(load, sure, tuple(steps)))


def _rate(per_second: float, batch: int | None) -> str:
    return f"{per_second:.4g}{f' batches of {batch}' if batch is not None and batch > 1 else ''} per second"
