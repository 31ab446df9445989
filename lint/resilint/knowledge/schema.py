"""The schema of knowledge files: what a library's names mean to the engine, in computable fields only.

Canonical names are dotted: Python `requests.Session`, `requests.Session.get`; Go import path, dot, symbol:
`net/http.Client`, `net/http.Client.Do`. A name is looked up as code would spell it after imports are resolved.
The JSON Schema of a file is generated from these structs.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Scalar = None | bool | int | float | str

SlotName = Literal[
    "total",  # the whole exchange
    "read",  # silence while waiting for an answer
    "write",
    "connect",
    "io",  # each socket operation
    "header",
    "body",
    "idle",
    "handshake",
    "statement",
    "transaction",
    "lock_wait",
    "pool_wait",
    "wait",  # waiting for a thread, task, process, lock, queue
    "deadline",
    "request",  # one request on the server's side
    "capacity",
    "concurrency",
    "idle_connections",
    "prefetch",
    "batch",
    "linger",
    "attempts",
    "backoff",
    "jitter",
    "elapsed",
    "rate",
    "ttl",
    "keepalive",
    "close",
]

Unit = Literal["s", "ms", "us", "ns", "min", "h", "dur", "count", "bool", "bytes"]
"""`dur`: a typed duration (Go time.Duration, timedelta, text with a unit); a bare number is then nanoseconds in Go,
else an error."""


class Bound(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One way to put a value into a slot. Exactly one or more of `arg/pos`, `field`, `setter`, `option`, `key` say where."""

    slot: SlotName
    arg: str | None = None
    """Keyword or parameter name of the call or constructor."""
    pos: int | None = None
    """Position, from 0, without the receiver."""
    field: str | None = None
    """Attribute or struct field of the object."""
    class_attr: str | None = None
    """Attribute of a subclass's body."""
    setter: str | None = None
    """Method of the object; its argument at `pos` (default 0) is the value."""
    option: str | None = None
    """Canonical name of a function whose result, given as an argument to the constructor or call, sets it;
    its argument 0 (or `pos`)."""
    key: str | None = None
    """Key in a mapping or text the constructor takes: a query parameter of the URL or DSN, `-c key=` in libpq options,
    a dict key."""
    key_in: str | None = None
    """Which argument holds the mapping or text with `key`; default: any text or mapping argument."""
    key_pos: int | None = None
    statement: str | None = None
    """SQL session variable whose `SET` on the connection sets it."""
    unit: Unit = "s"
    item: int | None = None
    """The value may be a tuple: the component for this slot. A plain number fills all."""
    default: Literal["endless", "unset"] | float = "endless"
    """Seconds (or a count) when nothing is written. `endless`: known to have no bound. `unset`: another holder decides
    (`socket.setdefaulttimeout`, the client below)."""
    disabled: tuple[Scalar | Literal["negative", "zero"], ...] = ()
    """Written values that switch the bound off."""
    inherits: tuple[str, ...] = ()
    """Canonical names of sentinels that mean: as if not written."""
    plausible: tuple[float, float] | None = None
    """Smallest and largest sensible value, in the slot's unit."""
    since: str | None = None
    before: str | None = None
    """Versions of the library for which this row holds (since inclusive, before exclusive)."""
    covers_phase: bool = False
    """The bound covers a phase only, whatever the slot's name suggests."""


class Part(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An object handed to this one whose slots are this one's too: a transport, an adapter, a pool, a channel, an engine."""

    arg: str | None = None
    pos: int | None = None
    field: str | None = None
    setter: str | None = None


class Need(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A server needs one of these slots to be finite."""

    any: tuple[SlotName, ...]
    severity: Literal["error", "warning", "info"]
    say: str
    """What a peer can do otherwise, as the second half of a message: `a slow client can hold a connection for ever`."""
    quiet_for_streams: bool = False


class TypeEntry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An external type: how objects of it come into being, and what bounds them."""

    name: str
    aliases: tuple[str, ...] = ()
    """Other canonical names of the same type or its constructor functions with the same arguments."""
    made_by: tuple[str, ...] = ()
    """Functions with other arguments that return one (their own bounds stand under `calls`)."""
    instances: tuple[str, ...] = ()
    """Package variables that are one: `net/http.DefaultClient`."""
    bases: tuple[str, ...] = ()
    """External types whose methods and bounds it has too."""
    role: Literal[
        "client",
        "transport",
        "pool",
        "connection",
        "cursor",
        "server",
        "executor",
        "group",
        "queue",
        "lock",
        "gate",
        "limits",
        "context",
        "request",
        "response",
        "thread",
        "process",
        "future",
        "event",
        "stub",
        "policy",
        "value",
    ]
    protocol: str | None = None
    """http, grpc, sql, redis, memcached, mongodb, amqp, kafka, tcp …"""
    carries: bool = False
    """Its construction is where a bound belongs: RS101/RS102 are reported there."""
    bounds: tuple[Bound, ...] = ()
    enough: tuple[SlotName, ...] = ()
    """Slots of which one finite value bounds every wait through the object; empty: as the call says."""
    parts: tuple[Part, ...] = ()
    delegates: tuple[str, ...] = ()
    """Own methods through which all its calls go: overriding or rebinding one that supplies the slot bounds them."""
    returns: dict[str, str] = {}
    """Methods (or fields) that give another type: `{cursor: psycopg2.extensions.cursor}`."""
    settings: tuple[str, ...] | None = None
    """All attributes the library reads. Given only when complete: an assignment of any other has no effect."""
    needs: tuple[Need, ...] = ()
    any_method: str | None = None
    """Every method that is not listed behaves like this canonical call (generated stubs, SDK clients)."""
    exits: Literal["joins", "cancels", "closes"] | None = None
    """What leaving its `with` block does with work that still runs."""
    holder: str | None = None
    """Canonical instance whose slots count where nothing else is written: a process-wide default."""
    by_scheme: dict[str, str] = {}
    """Scheme of the URL it is made with (without `+driver` unless listed with it) to the type that then stands behind it."""
    in_process: bool = False
    """A server of a test inside the same process: what waits for it in test code is no fault."""
    version_of: str | None = None
    """Distribution or module whose pinned version decides `since`/`before`; default: the file's library."""


class ContextRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a call makes a deadline carrier (Go context) or opens a scope."""

    kind: Literal["root", "bounded", "derived", "detached", "request"]
    parent: int | None = None
    duration: int | None = None
    """Position of the duration; `until` of an absolute time."""
    until: int | None = None


class ScopeRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call that bounds other code: `with asyncio.timeout(d):`, `await wait_for(x, d)`."""

    form: Literal["with", "call", "decorator"]
    arg: str | None = None
    pos: int | None = None
    body: int | None = None
    """Position of the awaited argument for form `call`."""
    unit: Unit = "s"
    cuts: Literal["await", "all", "caller"] = "await"
    """What it can interrupt: awaits only, everything, or only the caller's wait (the work goes on)."""


class SpawnRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call that starts code beside its caller."""

    target: int | None = None
    """Position of the function (or coroutine) it runs; `target_arg` its keyword."""
    target_arg: str | None = None
    each: int | None = None
    """It starts one per element of this argument: `pool.map(f, xs)`; for `gather(*xs)` -1: one per argument."""
    joins: bool = False
    """It returns when all of it is done."""
    waits_for_slot: bool = False
    """At the limit the spawner waits (errgroup with a limit): nothing piles up."""
    backlog: Literal["none", "unbounded", "bounded"] = "none"
    """What happens past the executor's limit."""


class EntryRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who calls user code: a decorator, a registration, an assigned callback, a method name of a subclass, a signature."""

    kind: Literal["request", "worker", "job", "event", "startup", "tool", "middleware"]
    decorator: str | None = None
    """Canonical name of the decorator or decorator factory (method: `flask.Flask.route`)."""
    call: str | None = None
    """Canonical name of the registering call; the function is its argument at `pos` or `arg`."""
    pos: int | None = None
    arg: str | None = None
    attribute: str | None = None
    """`Type.attribute` to which the callback is assigned."""
    base: str | None = None
    """Canonical base class; its `methods` (patterns) are entries."""
    methods: tuple[str, ...] = ()
    signature: tuple[str, ...] = ()
    """Go: canonical parameter types in order; every function with this signature is such an entry."""
    inputs: tuple[int, ...] = ()
    """Positions of parameters (without self) that come from the caller; empty: all."""
    context: int | None = None
    """Position of the parameter that carries the caller's deadline."""


class CallEntry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """External functions and methods of one behaviour."""

    names: tuple[str, ...]
    does: Literal[
        "network",  # waits for a peer
        "query",  # waits for a database statement
        "connect",  # opens a connection (a wait of its own)
        "serve",  # runs a server until the process ends
        "wait",  # waits for a thread, task, process, lock, queue, event
        "sleep",
        "spawn",
        "submit",
        "cancel",
        "configure",  # writes settings only
        "decode",  # fills its argument or result from a request
        "read_body",
        "respond",  # answers the caller at the edge (status mapping)
        "log",
        "hash",
        "exit",
        "pure",
        "make",
    ]
    protocol: str | None = None
    bounds: tuple[Bound, ...] = ()
    enough: tuple[SlotName, ...] = ()
    """Slots of which one finite value bounds the wait. Default: network total/read/io/deadline, query statement/transaction/read/
    io/total/deadline, connect connect/total/io/deadline, wait wait/total/deadline."""
    holder: str | None = None
    """Canonical instance whose slots count for a plain function: `net/http.DefaultClient` for `net/http.Get`."""
    context: int | None = None
    """Position of the argument that carries the deadline."""
    request: int | None = None
    """Position of the argument (a request object) whose context or bound counts."""
    takes_no_context: bool = False
    """It has a sibling that takes a context, and this one cannot be cancelled (RS107)."""
    one_shot: bool = False
    """Opens and closes its own connection per call."""
    returns: str | None = None
    part: int | None = None
    """Position of an argument whose slots count for the result (a channel given to a stub)."""
    makes: ContextRow | None = None
    scope: ScopeRow | None = None
    spawn: SpawnRow | None = None
    decodes: int | None = None
    """Position of the argument it fills from the request (`json.Decoder.Decode(&in)`); -1: its result is the input."""
    conversion: dict[str, Unit] = {}
    """`timedelta`-like constructors: argument name or position to unit."""
    streams: bool = False
    server: str | None = None
    """For `serve` helpers without a server object: the type whose needs it can never meet."""
    takes: int | None = None
    """`does: wait` on a gate or lock: how a matching release is found is the engine's business; position of the amount."""


class ErrorEntry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Error values and exception classes by cause."""

    names: tuple[str, ...]
    cause: Literal["timeout", "cancel", "both", "any"]
    """`any`: a class so wide that it contains the others (Exception, OSError)."""
    scope: bool = False
    """It says that the task or job around the code has to end, not only the call that raised it."""


class ErrorCall(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a call handles an error it is given."""

    names: tuple[str, ...]
    how: Literal["wraps", "loses", "format", "tests", "edge"]
    """`format`: wraps if its format text has %w, else loses (fmt.Errorf); `tests`: errors.Is/As; `edge`: maps to a status."""


class Constant(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A named constant of a library: `time.Second` is 1 in unit s and typed (a duration)."""

    number: float
    unit: Unit = "count"
    typed: bool = False
    """Its type carries the unit, as Go's time.Duration does."""


class Shape(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Generated code that is usually absent: names by pattern (fnmatch) stand for a type."""

    module: str
    """Pattern over the module or import path."""
    name: str
    """Pattern over the symbol: `*Stub`, `New*Client`."""
    type: str
    """The known type an instance has, or that a call of it returns."""


class Library(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One knowledge file."""

    library: str
    language: Literal["python", "go", "java", "config"]
    source: str
    """Documentation or repository the facts were read in, with version."""
    verified: str | Literal[False]
    """Version against which defaults were checked; `false`: findings resting on this file have at most low confidence."""
    modules: tuple[str, ...] = ()
    """Import names (Python top-level packages, Go import paths) whose presence is evidence for the library."""
    types: tuple[TypeEntry, ...] = ()
    calls: tuple[CallEntry, ...] = ()
    entries: tuple[EntryRow, ...] = ()
    errors: tuple[ErrorEntry, ...] = ()
    error_calls: tuple[ErrorCall, ...] = ()
    shapes: tuple[Shape, ...] = ()
    constants: dict[str, Constant] = {}
    notes: tuple[str, ...] = ()
