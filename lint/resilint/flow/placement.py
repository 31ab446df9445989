"""Workloads that are declared near something bound to a zone, and what their manifests require of the place they run in."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from posixpath import basename, dirname
from typing import TYPE_CHECKING

from resilint import facts as f
from resilint.flow.timeouts import Fault
from resilint.knowledge.schema import PlacementRow
from resilint.model import Span, Step, Value

if TYPE_CHECKING:
    from resilint.program import Program

Path = tuple[str, ...]

_VALUES = re.compile(r"[.]Values[.]([A-Za-z_][\w.]*)")
_HARD = "requiredDuringScheduling"
_CHART = ("Chart.yaml", "Chart.yml")
_MOST_WORKLOADS = 20_000


@dataclass(eq=False)
class Workload:
    """One document that describes pods."""

    path: str
    kind: str
    name: str
    pod: Path
    """Where the specification of its pods stands."""
    row: PlacementRow
    settings: dict[Path, f.Setting]
    labels: dict[str, str] = field(default_factory=dict)
    marks: dict[str, f.Setting] = field(default_factory=dict)
    """Annotations and labels of it and its pods."""
    runs: bool = False
    """It names containers; else it only changes another document."""


@dataclass
class Demand:
    """What a workload requires of the place it runs in."""

    zones: frozenset[str] | None = None
    """The zones it may run in; `None`: any."""
    beside: list[dict[str, str]] = field(default_factory=list)
    """Labels of pods in whose zone it has to run."""
    open: bool = False
    """It requires something that may bind it to a zone, or not."""
    written: f.Setting | None = None
    """Where the place is spoken of at all."""
    wishes: f.Setting | None = None
    """A preference for a zone, which binds nothing."""
    spreads: f.Setting | None = None
    """It has to be spread over the zones."""


def loose_placements(program: Program) -> Iterator[Fault]:
    """One fault for each workload that is declared near something and may be scheduled in another zone, in order of path."""
    workloads = _Workloads(program)
    found = []
    for workload, near, declared in _declared(program, workloads):
        if workload.runs and (fault := _judged(program, workloads, workload, near, declared)) is not None:
            found.append(fault)
    yield from sorted(found, key=lambda fault: (fault.span, fault.message))


def _declared(program: Program, workloads: _Workloads) -> Iterator[tuple[Workload, str, Step]]:
    """Workloads with what they are declared to be near, and where."""
    taken: set[int] = set()
    for service in program.settings.services.values():
        if not service.near:
            continue
        span = program.settings.place_or_start("services", service.name, "near")
        step = Step(span, f"{service.name} is declared near {service.near}")
        named = {service.name.lower(), *(host.partition(".")[0].lower() for host in service.hosts)}
        inside = [w for w in workloads.all if service.paths and program.settings.service_of(w.path) is service]
        inside = [w for w in inside if w.name.lower() != service.near.lower()]
        mine = [w for w in (inside or workloads.all) if _is_named(w.name, named)] or inside
        for workload in mine:
            taken.add(id(workload))
            yield workload, service.near, step
    for workload in workloads.all:
        mark = next((s for key, s in workload.marks.items() if key in workload.row.near), None)
        if mark is not None and id(workload) not in taken and mark.text and "{{" not in mark.text:
            span = program.span(workload.path, mark.key_at, mark.end)
            yield workload, mark.text, Step(span, f"{workload.name} is declared near {mark.text}")


def _is_named(name: str, named: Iterable[str]) -> bool:
    words = name.lower().split("-")
    return any(words[: len(wanted.split("-"))] == wanted.split("-") for wanted in named)


def _judged(program: Program, workloads: _Workloads, workload: Workload, near: str, declared: Step) -> Fault | None:
    demands = [workloads.demand(w) for w in workloads.alike(workload)]
    own = workloads.demand(workload)
    if any(demand.open or demand.beside for demand in demands) or workloads.is_patched(workload):
        return None
    zones = next((demand.zones for demand in demands if demand.zones is not None), None)
    anchor = workloads.anchor(near)
    home = workloads.demand(anchor).zones if anchor is not None else None
    home = home if home is not None and len(home) == 1 else None
    if zones is not None and (zones == home or (home is None and len(zones) == 1)):
        return None
    steps = [declared]
    if anchor is not None and home is not None:
        there = workloads.demand(anchor).written
        place = program.span(anchor.path, there.key_at, there.end) if there is not None else _name_of(program, anchor)
        steps.append(Step(place, f"{anchor.name} runs in {next(iter(home))}"))
    where = near if near.lower() != "zone" else "the rest of it"
    target = f"the zone of {near}" if near.lower() != "zone" else "one zone"
    if zones is not None:
        listed = ", ".join(sorted(zones)[:4])
        only = f"has to run in {listed}" if len(zones) == 1 else f"may run in any of {listed}"
        said = f"{workload.name} {only}, and {where} is in {next(iter(home))}" if home is not None else f"{workload.name} {only}"
    elif own.wishes is not None:
        said = f"{workload.name} prefers {target} and is not required to run there: it may be scheduled in another"
    elif own.spreads is not None:
        said = f"{workload.name} is spread over the zones although it belongs into {target}"
    else:
        said = f"nothing requires {workload.name} to run in {target}: it may be scheduled in another"
    span = _place(program, workload, own)
    return Fault(span, said, Value(None, program.knowledge.sure(workload.row), tuple(steps)))


def _place(program: Program, workload: Workload, own: Demand) -> Span:
    """Where the place is spoken of, else the specification of the pods, which would have to."""
    setting = own.written or own.wishes or own.spreads
    top = workload.settings.get((*workload.pod, "affinity", "nodeAffinity")) if setting is not None else None
    found = top or setting or workload.settings.get(workload.pod)
    if found is None:
        return _name_of(program, workload)
    return program.span(workload.path, found.key_at, max(found.key_end, found.key_at + 1))


def _name_of(program: Program, workload: Workload) -> Span:
    setting = workload.settings[("metadata", "name")]
    return program.span(workload.path, setting.key_at, setting.end)


class _Workloads:
    """The workloads of a program's manifests."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.rows = [row for library in program.knowledge.libraries for row in library.placements]
        self.all = list(self._find())[:_MOST_WORKLOADS]
        self._alike: dict[tuple[str, str], list[Workload]] = defaultdict(list)
        for workload in self.all:
            self._alike[workload.kind, workload.name].append(workload)
        self._demands: dict[int, Demand] = {}

    def alike(self, workload: Workload) -> list[Workload]:
        """The documents of the same name: a base with what is laid over it."""
        return self._alike[workload.kind, workload.name]

    def anchor(self, near: str) -> Workload | None:
        """The workload that something is declared near to, where it is described here."""
        wanted = near.lower().partition(".")[0]
        found = [w for w in self.all if w.runs and w.name.lower() == wanted]
        return found[0] if len({id(w) for w in found}) == 1 else None

    def is_patched(self, workload: Workload) -> bool:
        """Whether a text laid over manifests speaks of places: for which of them is not looked at."""
        for path, facts in self.program.files.items():
            if basename(path).startswith("kustomization.") and facts.kind == "yaml":
                for setting in facts.settings:
                    if setting.kind == "str" and any(key in setting.text for key in ("nodeSelector", "nodeAffinity", "nodeName")):
                        return True
        return False

    def _find(self) -> Iterator[Workload]:
        kinds = {kind: row for row in self.rows for kind in row.kinds}
        for path, facts in sorted(self.program.files.items()):
            if facts.kind not in ("yaml", "json") or self.program.settings.is_test(path):
                continue
            docs = [s.doc for s in facts.settings if s.path == ("kind",) and s.text in kinds]
            if not docs:
                continue
            by_doc: dict[int, dict[Path, f.Setting]] = {doc: {} for doc in docs}
            for setting in facts.settings:
                if setting.doc in by_doc:
                    by_doc[setting.doc][setting.path] = setting
            for settings in by_doc.values():
                row = kinds[settings[("kind",)].text]
                name = settings.get(("metadata", "name"))
                pod = next((p for p in (tuple(key.split(".")) for key in row.pods) if p in settings), None)
                if name is None or pod is None or not name.text:
                    continue
                yield self._workload(path, name.text, pod, row, settings)

    def _workload(self, path: str, name: str, pod: Path, row: PlacementRow, settings: dict[Path, f.Setting]) -> Workload:
        found = Workload(path, settings[("kind",)].text, _helm_name(name, path), pod, row, settings)
        inner = (*pod[:-1], "metadata") if len(pod) > 1 else ("metadata",)
        for have, setting in settings.items():
            if len(have) >= 3 and have[:-1] in (
                ("metadata", "annotations"),
                ("metadata", "labels"),
                (*inner, "annotations"),
                (*inner, "labels"),
            ):
                found.marks[have[-1]] = setting
                if have[:-1] == (*inner, "labels"):
                    found.labels[have[-1]] = setting.text
        found.runs = (*pod, "containers") in settings
        return found

    # ------------------------------------------------------------ what is required

    def demand(self, workload: Workload) -> Demand:
        """What a document requires of the place."""
        known = self._demands.get(id(workload))
        if known is None:
            known = self._demands[id(workload)] = self._demand(workload)
        return known

    def _demand(self, workload: Workload) -> Demand:
        found = Demand()
        size = len(workload.pod)
        below = {have[size:]: setting for have, setting in workload.settings.items() if have[:size] == workload.pod and have[size:]}
        for top in ("nodeSelector", "affinity", "nodeName", "topologySpreadConstraints"):
            setting = below.get((top,))
            if setting is None:
                continue
            if setting.kind == "str" and "{{" in setting.text:
                found.written = found.written or setting
                below |= self._of_values(workload, top, setting.text, found)
            elif setting.kind in ("str", "int") and top == "nodeName":
                found.open, found.written = True, setting
        if any("{{" in step for have in below for step in have[:3] if have[0] in ("nodeSelector", "affinity")):
            found.open = True
        terms: dict[Path, frozenset[str] | None] = {}
        selected: frozenset[str] | None = None
        for have, setting in below.items():
            if have[0] == "nodeSelector" and len(have) == 2:
                selected = _both(selected, self._label(have[1], "In", (setting.text,), setting, workload.row, found))
            elif have[:2] == ("affinity", "nodeAffinity") and len(have) > 5 and have[-1] == "key":
                self._affinity(have, below, workload.row, found, terms)
            elif have[:2] == ("affinity", "podAffinity") and have[-1] == "topologyKey" and have[2].startswith(_HARD):
                if any(fnmatchcase(setting.text, zone) for zone in workload.row.zones) or setting.text in workload.row.nodes:
                    labels = {k[-1]: s.text for k, s in below.items() if k[:4] == have[:4] and k[-2:-1] == ("matchLabels",)}
                    found.beside.append(labels)
                    found.written = setting
            elif have[0] == "topologySpreadConstraints" and have[-1] == "topologyKey" and setting.text in workload.row.zones:
                found.spreads = below.get(("topologySpreadConstraints",), setting)
        # Of several terms any suffices; within one all hold.
        wide = not terms or any(zones is None for zones in terms.values())
        required = None if wide else frozenset[str]().union(*(zones for zones in terms.values() if zones is not None))
        found.zones = _both(selected, required)
        return found

    def _affinity(
        self,
        have: Path,
        below: dict[Path, f.Setting],
        row: PlacementRow,
        found: Demand,
        terms: dict[Path, frozenset[str] | None],
    ) -> None:
        """One requirement of `nodeAffinity`."""
        setting = below[have]
        if not have[2].startswith(_HARD):
            if found.wishes is None and any(fnmatchcase(setting.text, zone) for zone in row.zones):
                found.wishes = below.get(("affinity",), setting)
            return
        operator = below.get((*have[:-1], "operator"))
        values = tuple(s.text for k, s in below.items() if k[:-1] == (*have[:-1], "values"))
        zones = self._label(setting.text, operator.text if operator is not None else "", values, setting, row, found)
        terms[have[:5]] = _both(terms.get(have[:5]), zones)

    @staticmethod
    def _label(
        label: str, operator: str, values: tuple[str, ...], setting: f.Setting, row: PlacementRow, found: Demand
    ) -> frozenset[str] | None:
        """The zones that a requirement on a label of the nodes leaves; `None`: any."""
        if any(fnmatchcase(label, zone) for zone in row.zones):
            found.written = found.written or setting
            if operator == "In" and values and not any("{{" in value or "$" in value for value in values):
                return frozenset(values)
            found.open |= operator in ("In", "")
        elif not any(fnmatchcase(label, pattern) for pattern in row.elsewhere):
            # Nodes of somebody's own label may all stand in one zone.
            found.open = True
        return None

    # ------------------------------------------------------------ charts

    def _of_values(self, workload: Workload, top: str, text: str, found: Demand) -> dict[Path, f.Setting]:
        """What values of a chart put in the place of a hole."""
        names = _VALUES.findall(text) or [top]
        chart = dirname(workload.path)
        while chart and not any(f"{chart}/{name}" in self.program.files for name in _CHART):
            chart = dirname(chart)
        files = [p for p in self.program.files if dirname(p) == chart and basename(p).startswith("values")]
        if len(names) != 1 or not files:
            found.open = True
            return {}
        wanted = tuple(names[0].split("."))
        out: dict[Path, f.Setting] = {}
        for path in files:
            for setting in self.program.files[path].settings:
                if setting.path[: len(wanted)] == wanted and len(setting.path) > len(wanted):
                    out[(top, *setting.path[len(wanted) :])] = setting
        return out


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """The zones that two requirements leave together."""
    return other if one is None else one if other is None else one & other


def _helm_name(name: str, path: str) -> str:
    """A name with a hole is the chart's, or what stands beside the hole."""
    if "{{" not in name:
        return name
    rest = re.sub(r"\{\{.*?\}\}", "", name).strip("-")
    folder = dirname(path)
    chart = basename(dirname(folder) if basename(folder) == "templates" else folder)
    return f"{chart}-{rest}" if rest else chart or name
