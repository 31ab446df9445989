"""The schema of knowledge files: what a library's names mean to the engine, in computable fields only.

Canonical names are dotted: Python `requests.Session`, `requests.Session.get`; Go import path, dot, symbol:
`net/http.Client`, `net/http.Client.Do`; Java fully qualified, nested types with a dot: `okhttp3.OkHttpClient.Builder.readTimeout`,
a constructor by the name of its type. A name is looked up as code would spell it after imports are resolved.
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
    "capacity",  # what may lie in a queue, or wait for a thread or connection; 0: handed over or refused at once
    "concurrency",  # threads, connections, permits at once; to one peer where a pool counts by peer
    "concurrency_total",  # to all peers, beside a `concurrency` to one
    "core",  # threads an executor starts before it queues: it grows to `concurrency` only when its queue is full
    "idle_connections",  # kept for reuse at most; for one peer where a pool counts by peer
    "idle_total",  # for all peers, beside an `idle_connections` for one
    "min_idle",  # kept or made even when nothing asks for them
    "overflow",  # opened beyond `idle_connections` while all of those are in use, and closed after use
    "reuse",  # whether a connection is kept for the next call at all; switched off: closed after each
    "prefetch",
    "batch",
    "linger",
    "attempts",
    "backoff",  # the pause before the first repetition
    "backoff_min",  # no pause is shorter
    "backoff_max",  # no pause is longer
    "growth",  # each pause is so many times the one before; 1: they stay the same
    "growth_step",  # each pause is so much longer than the one before
    "jitter",  # random part of a pause: a time is added to it, a `count` is a share of it, a `bool`: random up to its length
    "elapsed",
    "rate",
    "ttl",
    "keepalive",
    "close",
    "redelivery",  # after which a broker gives a message that nobody has acknowledged to somebody else
]

Unit = Literal["s", "ms", "us", "ns", "min", "h", "dur", "count", "bool", "bytes"]
"""`dur`: a typed duration (Go time.Duration, timedelta, text with a unit); a bare number is then nanoseconds in Go,
else an error."""


class Bound(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One way to put a value into a slot. One or more of `arg/pos`, `field`, `setter`, `option`, `key`, `annotation`, `setting` say
    where; without any the default is a fact of the type or call that nobody can change. Defaults belong to the type, so that an
    object made elsewhere stays unknown; to the call where it has no object, and finite ones beside."""

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
    """Method of the object (`x().f`: of what its method `x` gives); its argument at `pos` (default 0) is the value. With `key`,
    a method that takes name and value (`addDataSourceProperty("socketTimeout", 5000)`): the call whose first argument is that
    text, or a constant of that name; the value is at `pos` (default 1)."""
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
    annotation: str | None = None
    """Canonical annotation whose attribute `arg` is the value, on the class, method or field that is meant."""
    on: int | None = None
    """With `annotation`: position of an argument that is a function; its decorator of that name has the value at `arg` or `pos`."""
    setting: str | None = None
    """Key of a settings file, dotted, `*` for a name of the user's (`server.tomcat.threads.max`); spelled relaxed where the
    framework reads it so."""
    names_in: tuple[str, ...] = ()
    """The setter takes a module or class of settings, or the name of such a module; of these names there one fills the slot."""
    variable: str | None = None
    """Beside another place: an environment variable out of which the library takes the value itself where code writes none."""
    arity: tuple[int, ...] = ()
    """Overloads: holds only for calls with one of these numbers of arguments."""
    unit: Unit = "s"
    unit_pos: int | None = None
    """Position of an argument that names the unit (`get(5, TimeUnit.SECONDS)`), -1 the receiver (`TimeUnit.SECONDS.sleep(5)`);
    a call without it gives a typed duration or counts in `unit`."""
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
    counts_retries: bool = False
    """Slot `attempts`: the written number leaves the first try out; `default` counts it."""
    moment: bool = False
    """The value is a moment of a clock that runs, no length of time: a constant is wrong, whatever its size."""
    covers_phase: bool = False
    """The bound covers a phase only, whatever the slot's name suggests."""
    growth: float | None = None
    """Slot `backoff`: written here, it is the first of pauses that are so many times the one before each."""
    random: bool = False
    """Slot `backoff`: written here, it is the longest that a random pause can be."""
    start: int = 0
    """Slot `backoff`: the power of the growth that the first pause has: 1 where that is a multiple of the value already."""
    fibonacci: bool = False
    """Slot `backoff`: pauses are multiples by the numbers of Fibonacci, from the one at `start` on (the first is at 1)."""
    over: bool = False
    """Slot `jitter`: chance makes pauses longer than the longest."""
    raises: bool = False
    """Of a wait: it fails with an error when the time is over; without, code that knows of no limit takes that for success."""
    means: Literal["endless"] | float | None = None
    """Slots of retries: what it says where it takes no value (`infiniteRetry()`); with unit `bool` whatever it takes."""


class Part(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An object handed to this one whose slots are this one's too: a transport, an adapter, a pool, a channel, an engine, the queue
    of an executor."""

    arg: str | None = None
    pos: int | None = None
    field: str | None = None
    setter: str | None = None
    arity: tuple[int, ...] = ()
    """Overloads: holds only for calls with one of these numbers of arguments."""
    slots: tuple[SlotName, ...] = ()
    """The slots that count; empty: all."""
    setting: str | None = None
    """As in `Bound`; of `driver_keys` the map below which they stand."""
    default: str | None = None
    """Canonical type or instance of what stands there when nothing is given; absent: nothing known does."""
    replaces: tuple[str, ...] = ()
    """Setters of this object, or of a part that is an argument other arguments, that have no effect once the part is given."""


HashKind = Literal[
    "stable",  # one value in all processes, for ever
    "process",  # seeded or by address: every process has its own
    "contents",  # as stable as the hash of what is in it
]
"""How far a hash is the same elsewhere."""

Order = Literal["sorted", "insertion", "none"]
"""What the order of iteration depends on; `none`: on hashes, addresses or chance."""

WhenFull = Literal["waits", "fails", "drops", "caller"]
"""What putting into something full does: waits for room, raises or gives false, loses an item, or runs it in the caller."""


class Need(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A server, or a client that settings make, needs one of these slots to be finite."""

    any: tuple[SlotName, ...]
    severity: Literal["error", "warning", "info"]
    say: str
    """What a peer can do otherwise, as the second half of a message: `a slow client can hold a connection for ever`."""
    quiet_for_streams: bool = False
    where: str | None = None
    """Only where the same section of settings has this key: a section without peers waits for none."""
    given_work_by: tuple[str, ...] = ()
    """Canonical decorators, calls and base classes by which a program gives it work, and arguments of its own that do (`include=`).
    Where the program has none of them it serves nobody."""


class TypeEntry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An external type: how objects of it come into being, and what bounds them."""

    name: str
    aliases: tuple[str, ...] = ()
    """Other canonical names of the same type or its constructor functions with the same arguments."""
    made_by: tuple[str, ...] = ()
    """Functions with other arguments that return one (their own bounds stand under `calls`); with `#1` behind the name the second
    component of what it returns."""
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
    overrules: tuple[SlotName, ...] = ()
    """Slots of the object it is handed to as a part that have no effect beside it."""
    delegates: tuple[str, ...] = ()
    """Own methods through which all its calls go: overriding or rebinding one that supplies the slot bounds them."""
    returns: dict[str, str] = {}
    """Methods (or fields) that give another type: `{cursor: psycopg2.extensions.cursor}`; `this` for the object itself."""
    settings: tuple[str, ...] | None = None
    """All attributes the library reads. Given only when complete: an assignment of any other has no effect."""
    without_effect: tuple[str, ...] = ()
    """Setters that it accepts and never heeds, though the type it extends does."""
    needs: tuple[Need, ...] = ()
    multiplexes: bool = False
    """Over TLS one of its connections carries many requests at a time (HTTP/2), so their number says little."""
    reusable: bool = False
    """It keeps connections of its own open for the next call, so one is made and used again. One that is given a part of that kind
    (a pool, a connector) keeps that part's."""
    any_method: str | None = None
    """Every method that is not listed behaves like this canonical call (generated stubs, SDK clients)."""
    any_except: tuple[str, ...] = ()
    """Patterns (fnmatch) of methods that `any_method` leaves out: they wait for nobody."""
    pair: bool = False
    """What makes it gives a tuple of its ends, each of which counts as the whole: a channel."""
    exits: Literal["joins", "cancels", "closes"] | None = None
    """What leaving its `with` block does with work that still runs."""
    holder: str | None = None
    """Canonical instance whose slots count where nothing else is written: a process-wide default."""
    by_scheme: dict[str, str] = {}
    """Scheme of the URL it is made with (without `+driver` unless listed with it) to the type that then stands behind it. Of two
    parts where the first says nothing: `jdbc:mysql`."""
    url_keys: Literal["", "?", ";"] = ""
    """How the first of its `key` rows is set off in its URL; the next ones by `&` or `;`."""
    url: tuple[Part, ...] = ()
    """Where that URL stands; empty: any argument of the constructor."""
    driver_keys: tuple[Part, ...] = ()
    """Where else `key` rows of that type are looked for: a mapping, or a setter that takes name and value."""
    mapped: bool = False
    """Classes of the program are mapped to it and send its statements, in calls that cannot be told to be its own: it is judged
    where it is made."""
    fluent: bool = False
    """Its methods give the object itself unless `returns` or a call says otherwise: a builder."""
    annotations: tuple[str, ...] = ()
    """Canonical annotations that make an interface or class of the program such a type (`@FeignClient`), or a field hold one."""
    shared: bool = False
    """There is one for the whole process: who waits on its threads makes everybody wait (RS202)."""
    event_loop: bool = False
    """Each of its threads serves many tasks in turn and must never wait."""
    helps: bool = False
    """Executors: a thread that waits for another task of the same pool runs tasks meanwhile, or another thread takes its place."""
    processes: bool = False
    """Executors: its tasks run in processes of their own, which share no object with this one."""
    when_full: WhenFull | None = None
    """Executors: what submitting past the limits does, unless a part (a policy) says otherwise. Pools of connections: what asking
    for one past `concurrency` does, unless given: it waits."""
    hash: HashKind | None = None
    """How far the hash of its instances is the same elsewhere; absent: as its own `hashCode`, `__hash__` or base says."""
    order: Order | None = None
    """Collections: the order of iteration."""
    idle_from: tuple[SlotName, ...] = ()
    """Servers: slots whose value holds for `idle` where that is not written, the first that is."""
    listens: tuple[Part, ...] = ()
    """Servers and listeners: where the address, port or network stands that they listen on, or the listener that they take."""
    made_by_settings: tuple[str, ...] = ()
    """Clients: keys of settings whose presence makes a framework make one, that waits for all that is behind them."""
    unless: tuple[str, ...] = ()
    """Of such a client: words of settings and code in the same project by which something else may end its waits."""
    in_process: bool = False
    """A server of a test inside the same process: what waits for it in test code is no fault."""
    version_of: str | None = None
    """Distribution or module whose pinned version decides `since`/`before`; default: the file's library."""


class ContextRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a call makes a deadline carrier (Go context) or opens a scope."""

    kind: Literal["root", "bounded", "derived", "detached", "request"]
    parent: int | None = None
    """Position of the context it derives from; -1 the receiver."""
    duration: int | None = None
    """Position of the duration; `until` of an absolute time."""
    until: int | None = None
    unit_pos: int | None = None
    """As in `Bound`."""


class ScopeRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call that bounds other code: `with asyncio.timeout(d):`, `await wait_for(x, d)`."""

    form: Literal["with", "call", "decorator"]
    """`decorator` also for an annotation, which bounds what it stands on; `arg` is then its attribute."""
    arg: str | None = None
    pos: int | None = None
    body: int | None = None
    """Position of the awaited argument for form `call`; -1 the receiver (`mono.timeout(d)`)."""
    lasts: bool = False
    """Form `call` on the receiver: it bounds that object itself, however that is waited for (`deferred.addTimeout(d, reactor)`);
    else only what the call gives."""
    context: int | None = None
    """Instead of a duration: position of the context that the body runs under; -1 the receiver (`Context.ROOT.run(f)`)."""
    unit: Unit = "s"
    unit_pos: int | None = None
    """As in `Bound`."""
    default: Literal["endless", "unset"] | float = "unset"
    """Seconds when no duration is written."""
    disabled: tuple[Scalar | Literal["negative", "zero"], ...] = ()
    later: bool = False
    """Where `arg` is not written the limit may come from elsewhere (another argument, a field that is set inside): not known."""
    cuts: Literal["await", "all", "caller", "query"] = "await"
    """What it can interrupt: awaits only, everything, only the caller's wait (the work goes on), or database statements only."""


class SpawnRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call that starts code beside its caller."""

    target: int | None = None
    """Position of the function (or coroutine) it runs; `target_arg` its keyword."""
    target_arg: str | None = None
    each: int | None = None
    """It starts one per element of this argument: `pool.map(f, xs)`; for `gather(*xs)` -1: one per argument."""
    joins: bool = False
    """It returns when all of it is done."""
    shields: bool = False
    """Giving up the wait for it does not end the work."""
    waits_for_slot: bool = False
    """At the limit the spawner waits (errgroup with a limit): nothing piles up."""
    backlog: Literal["none", "unbounded", "bounded", "capacity"] = "none"
    """What happens past the executor's limit; `capacity`: as that slot of the executor says."""
    executor: int | None = None
    """Position of the executor that runs it; absent: the receiver, if that is one."""
    executor_arg: str | None = None
    """Named argument in its place, or that of a limiter in the place of the default executor's."""
    default_executor: str | None = None
    """Canonical instance that runs it when no executor is given."""
    decorates: bool = False
    """The call is a decorator or annotation: calling what it stands on starts that."""
    passes: Literal["nothing", "positional", "all"] = "nothing"
    """What follows the function and is what that is called with: `pool.submit(f, 5, timeout=2)`."""
    in_turn: bool = False
    """What one caller starts runs one after the other, once the caller is done: never more at once than there are callers."""


class QueueRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a method does to the queue that is its receiver."""

    op: Literal["put", "take", "peek", "done", "size"]
    """`done` tells the queue that something taken is finished."""
    item: int | None = None
    """Position of what is put; of the collection that is put or filled where `many` is set."""
    many: bool = False
    """It moves several: `drainTo(list)`, `addAll(xs)`."""
    when_full: WhenFull = "waits"
    """For `put`."""


class ElementsRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a call has to do with the elements of a collection. Its result has as many, unless the row says otherwise."""

    of: int | None = None
    """Position of the collection; -1 the receiver; absent: the arguments are the elements, or there is none."""
    runs: int | None = None
    """Position of a function that it runs once for each element."""
    at_most: int | None = None
    """Position of a number: its result has no more of them."""
    number: int | None = None
    """Position of a number: its result has so many."""
    pieces: int | None = None
    """Position of a number: its result goes over pieces of the collection that have no more elements each."""
    counts: bool = False
    """Its result is how many there are."""


class HashRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call whose result is a hash, or that chooses a member by one."""

    kind: HashKind
    value: int | None = None
    """Position of what is hashed; -1 the receiver; absent: all arguments."""
    scheme: Literal["hash", "modulo", "jump", "ring", "rendezvous"] = "hash"
    """`hash`: the number itself. Else it chooses, by position (`modulo`) or so that few keys move when a member goes (`jump`: only
    if it is the last)."""
    members: int | None = None
    """Position of the list of members, or of their number, it chooses from; -1 the receiver."""


class GivesRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call whose result is one of the values it is handed: a box that is opened, the first that is not null."""

    of: int
    """Position of the value; -1 the receiver or, of a box, what that holds. Null is never given: it raises or the other is."""
    orelse: int | None = None
    """Position of what is given instead of null."""
    runs: bool = False
    """`orelse` is a function that makes it."""
    strict: bool = False
    """Null of `orelse` raises too."""


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
    listed: str | None = None
    """`Class.attribute`, the class by a pattern: what a class body of a file that imports the library lists there."""
    type: str | None = None
    """Of `listed`: the type whose settings such a class body holds, in rows with `class_attr`."""
    signature: tuple[str, ...] = ()
    """Go: canonical parameter types in order; every function with this signature is such an entry."""
    takes: str | None = None
    """Python: name of the first parameter of plain functions that answer it by a call of this library that `does: respond`."""
    inputs: tuple[int, ...] = ()
    """Positions of parameters (without self) that come from the caller; empty: all."""
    given: tuple[str, ...] = ()
    """Types of what the registering call hands the function, in order. Where that call makes a server, one that waits for its peer
    in a method of such an object without a limit is what the server's needs are about."""
    context: int | None = None
    """Position of the parameter that carries the caller's deadline."""
    width: str | None = None
    """Attribute of the annotation that says how many run at once; of a range (`5-10`) the upper end counts."""
    widths: tuple[str, ...] = ()
    """Keys of settings that say so for all that do not."""
    threads: str | None = None
    """Canonical instance of the executor, shared by the process, that runs such functions where they are no coroutines."""


class Condition(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A setting beside another on which it depends whether that one has an effect."""

    key: str
    values: tuple[str, ...] = ()
    """Patterns (fnmatch, small letters) of which one has to match; empty: any value."""
    unset: bool = False
    """It also holds where the setting is not written."""


class DeadlineRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A limit above entry points: how long the process, a proxy or a caller gives what they do. Written as one of `setting` (a key
    of a surface: in its files or the options of its commands), `key` (any document, as in `SettingMark`), `slot` of an object of
    `type` that serves them."""

    what: str
    """Whose limit it is, for messages: `gunicorn's timeout`."""
    side: Literal["own", "front"] = "own"
    """`own`: of the process itself; `front`: of what calls it."""
    kinds: tuple[str, ...] = ("request",)
    """Kinds of entries that it limits."""
    languages: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()
    """Patterns of canonical names by which entries are made that it limits; empty: all."""
    setting: str | None = None
    when: tuple[Condition, ...] = ()
    """Other keys of the same surface, or below the same block."""
    written_as: str | None = None
    """Of a command: pattern (a regular expression) that has to stand behind the program's name."""
    key: str | None = None
    """A step in square brackets may hold dots."""
    block: str = ""
    formats: tuple[str, ...] = ()
    document: tuple[SettingMark, ...] = ()
    names: tuple[str, ...] = ()
    """Keys below the block, or from the start of the document with a leading dot, that name who is called."""
    via: tuple[str, ...] = ()
    """Keys from the start of the document, with `{}` for such a name, that say who stands behind it."""
    named: bool = False
    """The last step of the block is such a name too."""
    inherits: bool = False
    """The key counts too where it stands in a block around."""
    base: str | None = None
    """Another block of the document whose key counts where the block has none."""
    type: str | None = None
    slot: SlotName | None = None
    unit: Unit = "s"
    bare: Unit = "s"
    """Of a number without a unit, where the row takes a duration."""
    disabled: tuple[Scalar | Literal["negative", "zero"], ...] = ()
    streams: tuple[str, ...] = ()
    """Keys anywhere in the document that tell of streams, or of another limit for them: with one the limit may well be off."""
    default: float | None = None
    """Seconds where nothing is written but the command, or the block with a name."""
    fallback: bool = False
    """It holds only for entries that have no limit of their own."""
    stops: bool = False
    """The work is ended when it is over; else only whoever waits leaves."""
    then: str = ""
    """What happens when it is over, for messages: a clause."""
    share: str | None = None
    """Key beside `key` of how many units of work one limit is for, one after the other; `share_default` where it is not written.
    Of the limit and this one has to be written."""
    share_default: int = 1


class IdleRow(DeadlineRow, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How long a connection may lie idle: at a server that then closes it (`side: own`), or at a client or proxy that uses it again
    until then (`front`). `names` are addresses or ports of who is called, or of an `own` side what it is called itself."""

    protocol: str = "http"
    inside: str | None = None
    """The value is that of this name in a text of `name=value` parts."""
    keep: str | None = None
    """Key below the block, as a count or switch, without which connections are not kept at all."""


class LimitRef(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A limit in settings: what is written for one thing of a kind, in one block of a document."""

    what: str
    """For messages: a noun phrase."""
    formats: tuple[str, ...] = ()
    document: tuple[SettingMark, ...] = ()
    block: str = ""
    when: tuple[Condition, ...] = ()
    """Other keys below the block."""
    keys: tuple[str, ...] = ()
    """Keys below the block; those that are written add up, and the first of them is its place. Empty: nobody can write it."""
    default: float | None = None
    """Seconds where none of them is written."""
    unit: Unit = "s"
    bare: Unit = "s"
    disabled: tuple[Scalar | Literal["negative", "zero"], ...] = ()
    tries: tuple[str, ...] = ()
    """Keys below the block of how often it is used one after the other; several multiply."""
    retries: bool = False
    """They leave the first try out."""
    tries_default: tuple[int, ...] = ()
    """What holds for each where it is not written; empty: there is one try."""
    names: tuple[str, ...] = ()
    """Keys below the block that name what it belongs to; the last step of the block is its own name."""


class LimitPairRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Two limits of settings of which the inner has to be the shorter. In one `block`; in one `document` or `project`, where one
    names the other, or where there is only one outer one."""

    outer: LimitRef
    inner: LimitRef
    where: Literal["block", "document", "project"] = "block"
    names_only: bool = False
    """Only where one names the other."""
    equal: bool = False
    """As long as the outer is too long."""
    then: str
    """What happens, for messages: a clause."""


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
        "identify",  # says which thread, task or event loop runs the caller
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
    looks_up: bool = False
    """It asks the operating system what address a name has."""
    returns: str | None = None
    returns_by: dict[str, str] = {}
    """Canonical constants that its first argument may be, to the type it then gives in place of `returns`: a socket of a kind."""
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
    waits_for: Literal["process", "work", "message", "lock"] | None = None
    """`does: wait`: what ends it, where the role of its receiver does not say so: a child process, work that runs already, a
    message or signal of another part of the program, the release of a lock or permit."""
    interruptible: bool = True
    """`does: wait` and `sleep` in Java: an interrupt of its thread ends it with `InterruptedException`, by its own `throws`."""
    serves_after: tuple[str, ...] = ()
    """Methods of the same object (or its type's own name: made with arguments) after which, as the first thing in the rounds of an
    endless loop, it waits for whoever asks: that is a server's job, and has no end."""
    at_once: tuple[str, ...] = ()
    """Canonical constants: on an object that was made with one of them among its arguments it does not wait, as connecting a socket
    of datagrams, or of the same machine, has no peer far away that could be silent."""
    ready: tuple[str, ...] = ()
    """Methods of the same object whose yes says that what it takes is there: where one was asked, it does not wait."""
    replies_to: tuple[str, ...] = ()
    """Methods of the same object that ask: a call that none of them precedes in its function listens to whoever speaks first, on a
    stream that stays open by design. Only what follows one waits for an answer."""
    deferred: bool = False
    """It only starts it and returns at once; the wait is where its result is awaited: a future, a publisher."""
    server: str | None = None
    """For `serve` helpers without a server object: the type whose needs it can never meet."""
    listens: tuple[Part, ...] = ()
    """`does: serve`: where the address or the listener stands that it serves on."""
    wraps: str | None = None
    """A decorator: the type whose methods and attributes a function under it has, beside what it does when it is called."""
    watches: int | None = None
    """Position of an object, or a collection of them, that it tells to be ready: what waits on one then need not wait long."""
    takes: int | None = None
    """`does: wait` on a gate or lock: how a matching release is found is the engine's business; position of the amount."""
    arity: tuple[int, ...] = ()
    """Overloads: it does so with these numbers of arguments only, else nothing of note (`new Socket()` connects nowhere).
    Empty: with any."""
    unit_pos: int | None = None
    """Beside `conversion` in unit `dur`: position of the argument that names the unit, as in `Bound`."""
    counts: Unit | None = None
    """The result is a bare number of this unit: of the duration that is the receiver (`duration.toMillis()`), or of argument 0 in
    the unit that is the receiver (`TimeUnit.SECONDS.toMillis(5)`)."""
    gives: GivesRow | None = None
    holds: int | None = None
    """Position of the value that the box it makes holds (`Optional.of(x)`, `text("select …")`); nothing in a call without it."""
    maps: int | None = None
    """Position of the function that makes what the new box holds of what its receiver holds."""
    arithmetic: tuple[Literal["+", "-", "*", "/"], Unit] | None = None
    """The result is the duration that is the receiver, changed by argument 0; a bare number there counts in that unit, or in the
    one that argument 1 names."""
    stores: tuple[int, int] | None = None
    """It stores the value at the second position under the key at the first in its receiver: `map.put(key, value)`."""
    queue: QueueRow | None = None
    elements: ElementsRow | None = None
    hash: HashRow | None = None
    order: Order | None = None
    """Of the collection it gives."""
    peers: bool = False
    """It gives peers that come and go (discovery, DNS, registry), which two callers may see differently."""


class ErrorEntry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Error values and exception classes by cause."""

    names: tuple[str, ...]
    cause: Literal["timeout", "cancel", "both", "any"]
    """`any`: a class so wide that it contains the others (Exception, OSError)."""
    scope: bool = False
    """It says that the task or job around the code has to end, not only the call that raised it; of a wide class: it contains such
    an error."""


class ErrorCall(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a call handles an error it is given."""

    names: tuple[str, ...]
    how: Literal["wraps", "loses", "format", "tests", "edge", "drops"]
    """`format`: wraps if its format text has %w, else loses (fmt.Errorf); `tests`: errors.Is/As; `edge`: maps to a status; `drops`:
    the classes it is given are caught and forgotten in its `with` block."""


class Constant(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A named constant of a library: `time.Second` is 1 in unit s and typed (a duration)."""

    number: float
    unit: Unit = "count"
    typed: bool = False
    """Its type carries the unit, as Go's time.Duration does."""


class Spelling(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How code writes a typed duration of `{n}` units."""

    unit: Unit
    name: str
    """Canonical, what has to be imported."""
    text: str
    """With `{n}` and `{name}`: `{n} * {name}`."""
    pair: bool = False
    """Two arguments, the number and its unit, for rows with `unit_pos`."""


class Shape(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Generated code that is usually absent: names by pattern (fnmatch) stand for a type."""

    module: str
    """Pattern over the module or import path."""
    name: str
    """Pattern over the symbol: `*Stub`, `New*Client`."""
    type: str
    """The known type an instance has, or that a call of it returns."""


class SettingMark(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A key of a settings file that says something about the block it stands in."""

    key: str
    """Dotted, below the block; `*` for any one step, `**` for any number of them."""
    values: tuple[str, ...] = ()
    """Patterns (fnmatch, small letters) for its value; empty: any value."""
    unless: tuple[str, ...] = ()
    """Patterns of values that do not count."""
    differ: bool = False
    """Counts only where several keys of the pattern have values that differ."""
    beside: str | None = None
    """Another key, spelled likewise, that has to stand in the block too."""
    means: str = ""
    """What it does, for messages: a noun phrase."""
    by_default: bool = False
    """What it means is a default of the system, not written here."""


class BalancerRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How settings describe a balancer that may choose by hash from less than all its members."""

    block: str = ""
    """Path of one balancer, dotted, as in `SettingMark`; empty: the whole document."""
    formats: tuple[str, ...] = ()
    """Kinds of files it is written in; empty: any."""
    document: tuple[SettingMark, ...] = ()
    """What has to stand in the document for it to be of this system; all of them."""
    hash: tuple[SettingMark, ...] = ()
    """Any of them: it chooses by hash."""
    view: tuple[SettingMark, ...] = ()
    """Any of them: it chooses from what this caller sees."""
    agreed: tuple[SettingMark, ...] = ()
    """Any of them: `view` does not hold after all."""
    members: str | None = None
    """Key of its members. Two balancers of one name for two places with other members are two views."""
    feeds: tuple[str, ...] = ()
    """Canonical calls of code that give the list it filters: a hash there counts as its own."""


class Wiring(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Canonical annotations by which a framework makes objects and hands them to who asks for their type."""

    makers: tuple[str, ...] = ()
    """On a method: what it gives is such an object, known by the method's name or the annotation's first text."""
    components: tuple[str, ...] = ()
    """On a class: there is one object of it."""
    injected: tuple[str, ...] = ()
    """On a field, setter or constructor: filled with the object of the declared type."""
    qualifiers: tuple[str, ...] = ()
    """On a parameter or field: the first text is the name of the object that is meant."""
    primary: tuple[str, ...] = ()
    """On a maker or class: of several this one is meant."""
    values: tuple[str, ...] = ()
    """On a field or parameter: the first text, with placeholders (`${key:default}`), is its value."""
    lookups: tuple[str, ...] = ()
    """Methods that give such an object by the name or the class that they are handed."""
    factories: dict[str, str] = {}
    """Types whose objects stand for what a method of theirs gives: type → method."""


class SurfaceRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Files of settings that a program reads. `setting` of other rows names their keys."""

    files: tuple[str, ...] = ()
    """Patterns (fnmatch) of file names; with a slash, of the end of the path. A Python file's keys are its top-level names."""
    namespaces: tuple[str, ...] = ()
    """Of XML elements wherever they stand; the key of an attribute is `element.attribute`, behind `prefix`. `*`: any that is no
    other row's."""
    roots: tuple[str, ...] = ()
    """First segments of its keys; empty: all keys of the file."""
    prefix: str = ""
    """What `setting` rows write before a key of the file, where its own keys have no root."""
    relaxed: bool = False
    """Case, dashes and underscores mean nothing, and environment variables spell keys too (`SERVER_PORT`)."""
    bare: Unit = "ms"
    """What a number without a unit counts where a row takes a duration."""
    commands: tuple[str, ...] = ()
    """Programs whose options are the same keys (`--keep-alive 5`), in Dockerfiles, manifests, units."""
    options: dict[str, str] = {}
    """Options whose names are not those of the keys: `{t: timeout}`."""
    variables: tuple[str, ...] = ()
    """Environment variables that hold such options."""


class MadeRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a framework makes of settings of a Python file: a client or connection for each entry of a mapping, or for one name."""

    setting: str
    """Key of a surface; with `*` as its last segment it is a mapping, and each of its values describes one."""
    kind: str
    """Key of the description, or setting beside the name, whose text says what is made."""
    types: dict[str, str]
    """Such texts, and the type that is made; `""` where none is written."""
    arguments: str | None = None
    """Key of the description with a mapping of arguments that it is made with."""
    keys: dict[str, str] = {}
    """Settings beside the name that are arguments, too, and the names of those."""


class KeysRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A complete list of what may stand below a key that a framework owns: whatever else stands there is read by nobody."""

    root: str
    """Dotted, `*` for a name of the user's."""
    names: tuple[str, ...] = ()
    """What may follow, dotted as far as it is listed; keys of `setting` rows need not stand here."""
    declared_by: str | None = None
    """Canonical annotation whose instances the last `*` of the root names."""
    attributes: tuple[str, ...] = ()
    """Its attributes that give the name, the first that is written."""
    reserved: tuple[str, ...] = ()
    """Names that mean something else: `default`."""


class MovedRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A key that was read once, or that people take for another, and is read no more."""

    key: str
    """Dotted, `*` for a name of the user's; stands for all that lies below."""
    now: str
    """Where it belongs, with the same `*`."""
    of: str | None = None
    """The library, as it is pinned, whose version decides; without a pin nothing is said."""
    since: str | None = None


class PoolRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An RPC framework in which the services of a server share its worker threads. Keys as in `setting`."""

    server: tuple[str, ...]
    service: tuple[str, ...]
    refers: tuple[str, ...]
    """Attributes of a service that name its servers, separated by commas; without one it is on the only server, or on all."""
    ids: tuple[str, ...] = ("id", "name")
    """Attributes of a server by which it is named."""
    threads: tuple[str, ...]
    """Attributes with the size of the pool; a server element without any of them is one only where `default` is given."""
    default: float | None = None
    limits: tuple[str, ...] = ()
    """Attributes of a service that bound how many threads it takes; zero and less: no limit."""
    own: tuple[str, ...] = ()
    """Attributes of a service that give it threads of its own."""
    times: tuple[str, ...] = ()
    """Attributes of a service with the longest time of a call."""
    unit: Unit = "ms"
    names: tuple[str, ...] = ("interface", "ref", "id", "name")
    """Attributes of a service that say what it is."""
    methods: tuple[str, ...] = ()
    """Elements inside a service that limit or time a part of it."""
    annotations: tuple[str, ...] = ()
    """Canonical annotations that export a class as a service, with the same attributes."""


class RetryPart(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a policy holds another one, or a part of one: when to stop, how long to pause."""

    says: Literal["all", "stops", "pauses"] = "all"
    arg: str | None = None
    pos: int | None = None
    option: str | None = None
    """As in `Bound`: the part is argument 0 of that call."""
    setter: str | None = None
    field: str | None = None
    optional: bool = False
    """Something else may stand there, which says nothing."""


class AgainRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A method of the first parameter by which a decorated function asks, where it caught a failure, to be run again."""

    method: str
    bounds: tuple[Bound, ...] = ()
    """What its own arguments say, which wins."""
    made: tuple[Bound, ...] = ()
    """What those of the decorator say."""
    counts: str
    """Part of the name of what tells a function how often it was run: with a test of that it may end by itself."""


class RetryRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What repeats an operation that failed. How often and how far apart stands in `bounds`, here and of the type of that name, in
    the slots `attempts`, `elapsed`, `backoff`, `backoff_min`, `backoff_max`, `growth`, `growth_step` and `jitter`."""

    names: tuple[str, ...]
    """Canonical: types of policies, decorators, annotations, calls."""
    form: Literal[
        "policy",  # an object, a decorator or a function of a library that stands for one
        "part",  # the same, which does nothing until something is given it
        "annotation",  # on a method, or on a class for all its methods
        "call",  # runs the operation that it is given
        "client",  # an object whose own calls are repeated
        "any",  # of its arguments, whichever ends it first
        "all",  # ends it only when all of them would
        "sum",  # pauses for as long as all of them together
        "chain",  # each of them once, the last for ever
    ] = "policy"
    bounds: tuple[Bound, ...] = ()
    parts: tuple[RetryPart, ...] = ()
    runs: int | None = None
    """`call`: position of the operation; -1: what stands before the dot is computed again."""
    policy: int | None = None
    """`call`: position of the policy; -1 the receiver; absent: its own arguments say all."""
    operators: dict[str, Literal["any", "all", "sum"]] = {}
    """What operators between two such things make of them."""
    enabled_by: tuple[str, ...] = ()
    """`annotation`: does nothing unless a class of the program has one of these annotations."""
    active_with: str | None = None
    """Does nothing unless this argument is given."""
    again: AgainRow | None = None
    instance: str | None = None
    """`annotation`: the attribute that names an instance, which takes the place of the last `*` in keys of settings; the first
    positional one counts as it too."""
    settings: tuple[str, ...] = ()
    """Roots of the keys that describe an instance, its own first, then what it falls back to; the last segments of the keys are
    those of `setting` in `bounds`."""
    errors: tuple[RetryPart, ...] = ()
    """Which errors it repeats on; absent or not given: any."""
    context: tuple[RetryPart, ...] = ()
    """Where it is given a context whose end ends it."""
    only: Literal["connect", "result"] | None = None
    """By itself it repeats only what never reached the peer; as a condition: only a result of some kind, which no failure is."""
    at_once: bool = False
    """The first repetition does not pause."""
    spreads: bool = False
    """A longest pause without growth makes each random up to it."""
    growing: tuple[SlotName, ...] = ()
    """Slots that count only where pauses grow."""
    unless: tuple[str, ...] = ()
    """Arguments that limit some failures by themselves: with one of them tries without end are not known to be."""
    ends: tuple[str, ...] = ()
    """Arguments that may be a list of pauses, which ends it when it is used up: then endless tries are not known to be."""
    base: str | None = None
    """`settings`: key of an instance with the name of another that it builds upon; `bases` is the root of those."""
    bases: str | None = None
    switches: dict[str, str] = {}
    """`settings`: slots that count only where the key of this name is true."""


class SelectRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a library picks rows by calls that follow one another, without a statement of SQL. All names are last segments."""

    begins: tuple[str, ...]
    """Attributes or calls with which a selection begins: `objects`, `select`."""
    narrows: tuple[str, ...]
    """Calls that are given conditions."""
    drops: tuple[str, ...] = ()
    """Of these, those that leave out what meets them."""
    brings: tuple[str, ...] = ()
    """Calls that bring the rows; empty: whatever uses the selection does."""
    arity: tuple[int, ...] = ()
    """Numbers of arguments of the calls that narrow; empty: any. With more of them a page is among the arguments."""
    counted: tuple[str, ...] = ()
    """Calls that bring as many rows as their argument says, and all where it says none."""
    paged_by: tuple[str, ...] = ()
    """Calls after which the next selection of the function brings one page."""
    anywhere: bool = False
    """The first name alone tells the library: files that use it import nothing of it."""


class DeclareRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Code that declares, or fills, something of a broker that keeps what nobody has taken yet: a queue, a stream, a topic."""

    names: tuple[str, ...]
    """Canonical calls, constructors and struct types."""
    what: Literal["queue", "stream", "topic"] = "queue"
    named: tuple[str | int, ...] = ()
    """Arguments or fields that hold its name: the first that is written."""
    limits: tuple[str | int, ...] = ()
    """Arguments, fields and calls on the result that limit its length or the age of what is in it. Values of 0 and below, and none,
    do not."""
    mapping: tuple[str | int, ...] = ()
    """Arguments that hold a mapping of further arguments, and calls on the result that take a name and a value."""
    keys: tuple[str, ...] = ()
    """Names in such a mapping that limit it."""
    temporary: tuple[str | int, ...] = ()
    """Arguments, fields and calls by which it ends with its user, or is only looked up."""
    trimmed_by: tuple[str, ...] = ()
    """Last segments of calls that shorten such things somewhere else."""
    by_policy: bool = False
    """The broker may limit it by a policy, too."""
    heeded_by: tuple[str, ...] = ()
    """Regular expressions of which one fits in the program where its broker heeds these limits; empty: all of the library's do."""
    arity: tuple[int, ...] = ()
    """Only calls with one of these numbers of arguments."""


class ConsumeRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call that has a broker push messages to the object it is called on, as many at once as the slot `prefetch` says."""

    names: tuple[str, ...]
    entered: tuple[str, ...] = ()
    """Types whose objects do the same where a `with` enters them."""
    acknowledged: tuple[str | int, ...] = ()
    """Arguments that, when true, acknowledge what is pushed at once: then the slot has no effect."""


class BacklogRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How settings declare something of a broker that keeps what nobody has taken yet."""

    what: Literal["queue", "stream", "topic"] = "queue"
    formats: tuple[str, ...] = ()
    """Kinds of files it is written in; empty: any."""
    document: tuple[SettingMark, ...] = ()
    """What has to stand in the document for it to be of this system; all of them."""
    block: str = ""
    """Path of one, dotted, as in `SettingMark`; empty: the whole document."""
    name: str
    """Key of its name."""
    limits: tuple[SettingMark, ...] = ()
    """Any of them: its length, or the age of what is in it, is limited."""
    endless: tuple[SettingMark, ...] = ()
    """Any of them says that there is no limit. Empty: that none is written says so."""
    temporary: tuple[SettingMark, ...] = ()
    """Any of them: it ends with its user, or keeps the last of each key only."""
    policy: str = ""
    """Path of one policy that may limit it too, as `block`."""
    policy_document: tuple[SettingMark, ...] = ()
    pattern: str = ""
    """Key of a policy's pattern over names."""
    policy_limits: tuple[SettingMark, ...] = ()


class ReuseRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A key of a settings file that makes connections to a service serve one call each."""

    key: SettingMark
    """From the start of the document, with the values that do so."""
    document: tuple[SettingMark, ...] = ()
    """What has to stand in the document for it to be of this system; all of them."""
    who: str
    """Whose connections, for messages: `the sidecar`."""


class ContainerRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How settings describe one container or process and the memory it may use. Keys are dotted, below the block."""

    memory: tuple[str, ...]
    """Keys of its limit; what stands above such a key is the block. The first that is written counts."""
    block: str = ""
    """Path of the block, as in `SettingMark`; empty: any."""
    formats: tuple[str, ...] = ("yaml", "json")
    """Kinds of files it is written in."""
    sizes: dict[str, float]
    """Bytes of each suffix a size may have, as written where its case counts, else in small letters; `""` of a bare number."""
    environment: tuple[str, ...] = ()
    """Keys with its variables: a map, a list of `name` and `value`, a list of `NAME=value`, or such assignments in a text."""
    files: tuple[str, ...] = ()
    """Keys with files of variables."""
    command: tuple[str, ...] = ()
    """Keys with its command, which takes the place of that of the image."""
    args: tuple[str, ...] = ()
    """Keys with arguments, which take the place of those of the image."""
    image: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    """Keys with the folder its image is built in."""


class RuntimeRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a runtime of programs is told how much memory it may use."""

    name: str
    heap: tuple[str, ...] = ()
    """Options whose rest is the size of the heap: `-Xmx`."""
    share: tuple[str, ...] = ()
    """Options whose rest is the heap in percent of the memory there is; without effect beside one of `heap`."""
    fraction: tuple[str, ...] = ()
    """Likewise, one part of so many."""
    beside: dict[str, str] = {}
    """Options whose rest is a size of something beside the heap, and what that is called."""
    sizes: dict[str, float] = {}
    """As in `ContainerRow`."""
    carriers: tuple[str, ...] = ()
    """Variables out of which the runtime itself takes options, the weakest first; what stands in its command is stronger."""
    stronger: tuple[str, ...] = ()
    """Variables whose options win over those of the command."""
    heap_variables: tuple[str, ...] = ()
    """Variables by whose whole value usual start scripts set the heap."""
    program: tuple[str, ...] = ()
    """Names by which its command is started."""
    builders: tuple[str, ...] = ()
    """Plugins of build files (their `artifactId`) whose images start the runtime itself: no script is there to read a variable."""
    ends: tuple[str, ...] = ()
    """Options behind which no more of its own follow."""
    target: str | None = None
    """Variable with a size that the whole runtime tries to stay below."""
    collector: str | None = None
    """Variable that switches the collector off with one of `off`."""
    off: tuple[str, ...] = ()
    language: Literal["", "go", "java", "python"] = ""
    """Of the code that may tell it something."""
    switches: tuple[str, ...] = ()
    """Canonical calls that do the same where their first argument is negative."""
    targets: tuple[str, ...] = ()
    """Canonical calls that set the target in code."""
    fits: tuple[str, ...] = ()
    """Import paths of libraries that set the target from the container's limit, unless the variable does."""


class PlacementRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How manifests of an orchestrator tie the pods of a workload to a place."""

    kinds: tuple[str, ...]
    """What `kind` says of documents that describe pods."""
    pods: tuple[str, ...]
    """Dotted paths at which the specification of the pods may stand."""
    zones: tuple[str, ...]
    """Labels of nodes that name their zone."""
    nodes: tuple[str, ...] = ()
    """Labels that name the node itself."""
    elsewhere: tuple[str, ...] = ()
    """Patterns (fnmatch) of labels that say nothing of the zone."""
    near: tuple[str, ...] = ()
    """Annotations or labels of a workload that name what it has to be near."""


class RouteRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where settings say how calls of a host or of an RPC service are repeated. Keys stand below `block`; with a leading dot from
    the start of the document, with one `^` for each step further up."""

    what: str
    """For messages: `the mesh`."""
    side: Literal["client", "proxy"] = "proxy"
    """Who repeats: the caller's own library, or something between it and the host."""
    formats: tuple[str, ...] = ()
    document: tuple[SettingMark, ...] = ()
    block: str
    hosts: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    """Names of RPC services, or paths that begin with one."""
    upstreams: tuple[str, ...] = ()
    """Addresses that a proxy calls in turn."""
    attempts: str
    counts_retries: bool = False
    default: int | None = None
    """Tries where nothing is written."""
    most: int | None = None
    """More tries are taken for so many."""
    requires: str | None = None
    """Without this key nothing is repeated."""
    on: str | None = None
    """What it is repeated on."""
    on_default: tuple[str, ...] = ()
    """The same where nothing is written."""
    rpc: tuple[str, ...] = ()
    """Values of `on` that only answers of an RPC have."""
    connect: tuple[str, ...] = ()
    """Values of `on` for what never reached the peer: with none besides, it is no repetition of work."""
    methods: tuple[str, ...] = ()
    """Only requests of these methods are repeated, in small letters, unless `methods_in` says otherwise; empty: all."""
    methods_in: tuple[str, ...] = ()
    throttle: tuple[str, ...] = ()
    """Keys that limit how many of all calls are repeated."""


class PublicRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How settings publish a service under a host that everybody may call, or name the host of a call."""

    formats: tuple[str, ...] = ("yaml", "json")
    document: tuple[SettingMark, ...] = ()
    """What has to stand in the document; all of them."""
    block: str = ""
    """Path of one publication, as in `SettingMark`; empty: the whole document."""
    hosts: tuple[str, ...]
    """Keys below the block, or from the start of the document with a leading dot, with the hosts."""
    pattern: str | None = None
    """Regular expression whose first group is a host in the text of such a key."""
    targets: tuple[str, ...] = ()
    """Keys, likewise, with the services behind them; empty: the key is a call to the host."""
    named: bool = False
    """The first step of the block that a `*` stands for is the service."""
    internal: tuple[str, ...] = ()
    """Patterns (fnmatch) of hosts that are known inside only."""


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
    coroutines: tuple[str, ...] = ()
    """Patterns of canonical names of types and functions whose calls must be awaited: they never keep the calling thread."""
    types: tuple[TypeEntry, ...] = ()
    calls: tuple[CallEntry, ...] = ()
    entries: tuple[EntryRow, ...] = ()
    deadlines: tuple[DeadlineRow, ...] = ()
    limit_pairs: tuple[LimitPairRow, ...] = ()
    idles: tuple[IdleRow, ...] = ()
    errors: tuple[ErrorEntry, ...] = ()
    error_calls: tuple[ErrorCall, ...] = ()
    shapes: tuple[Shape, ...] = ()
    constants: dict[str, Constant] = {}
    spellings: tuple[Spelling, ...] = ()
    surfaces: tuple[SurfaceRow, ...] = ()
    keys: tuple[KeysRow, ...] = ()
    made: tuple[MadeRow, ...] = ()
    moved: tuple[MovedRow, ...] = ()
    pools: tuple[PoolRow, ...] = ()
    containers: tuple[ContainerRow, ...] = ()
    runtimes: tuple[RuntimeRow, ...] = ()
    placements: tuple[PlacementRow, ...] = ()
    publics: tuple[PublicRow, ...] = ()
    texts: dict[str, str] = {}
    """Named constants that are text: keys of settings (`ProducerConfig.LINGER_MS_CONFIG` is `linger.ms`)."""
    balancers: tuple[BalancerRow, ...] = ()
    reuse: tuple[ReuseRow, ...] = ()
    retries: tuple[RetryRow, ...] = ()
    routes: tuple[RouteRow, ...] = ()
    selects: tuple[SelectRow, ...] = ()
    declares: tuple[DeclareRow, ...] = ()
    consumes: tuple[ConsumeRow, ...] = ()
    backlogs: tuple[BacklogRow, ...] = ()
    wiring: Wiring | None = None
    words: dict[str, tuple[str, ...]] = {}
    """Words of names, by what they tell of a list of peers or of a hash (see `config/routing.yaml`)."""
    notes: tuple[str, ...] = ()
