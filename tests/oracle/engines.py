"""An event simulation of engines that hand each other tokens, written from docs/engines.md alone.

It shares no code with hw/engines. Fetch, engines and the port are processes that run side by side
and meet at nothing but what the page names: queues, tokens, requests. Section names in the
docstrings are those of the page.
"""

import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

COMPUTE, READ, WRITE = "compute", "read", "write"


@dataclass(frozen=True)
class CommandKind:
    """Section "Fields", of a kind of command. Work has the fields that its rules name."""

    name: str
    engine: int
    work: str
    item_cycles: int = 0
    pipeline_cycles: int = 1
    start_to_request: int = 1
    pad_row_cycles: int = 1
    start_to_pad: int = 1
    beat_to_write: int = 2
    write_to_end: int = 1
    item_bytes: int = 16
    start_to_beat: int = 2
    item_gap: int = 1


@dataclass(frozen=True)
class TokenQueue:
    """From the engine that posts to the engine that takes."""

    source: int
    target: int


@dataclass(frozen=True)
class Machine:
    """Section "Fields", of the machine. `queue_depths` has an engine each."""

    queue_depths: tuple[int, ...]
    kinds: tuple[CommandKind, ...]
    token_queues: tuple[TokenQueue, ...]
    port_bytes: int = 8
    page_beats: int = 256
    latency: int = 32
    reads_overlap: int = 1
    outstanding: int = 16
    client_cycles: int = 2
    last_beat_holds: int = 1
    command_bytes: int = 16
    launch_cycles: int = 2
    whole_bursts: int = 1
    fetch_cycles: int = 2
    dispatch_register: int = 0
    refill_cycles: int = 3
    dispatch_to_start: int = 2
    end_to_start: int = 2
    end_to_room: int = 1
    token_to_start: int = 2
    token_limit: int = 255


@dataclass(frozen=True)
class Command:
    """Section "Commands"."""

    kind: int
    items: int = 0
    address: int = 0
    row_bytes: int = 0
    rows: int = 0
    pitch: int = 0
    pad_rows: int = 0
    pads_above: int = 0
    pads_passed: int = 0
    pads_below: int = 0
    takes: tuple[int, ...] = ()
    posts: tuple[int, ...] = ()


@dataclass
class Times:
    """First and last cycle of a command."""

    start: int = -1
    end: int = -1


class Signal:
    """What processes wait for."""

    def __init__(self) -> None:
        self.waiting: list[Iterator] = []


class Agenda:
    """Events in time order. Of one cycle, actions come before processes, these before the port."""

    ACTION, PROCESS, PORT = range(3)

    def __init__(self) -> None:
        self.now = 0
        self.events: list[tuple] = []
        self.order = count()

    def at(self, cycle: int, action, rank: int = ACTION) -> None:
        heapq.heappush(self.events, (cycle, rank, next(self.order), action))

    def start(self, process: Iterator, cycle: int) -> None:
        self.at(cycle, lambda: self.step(process), self.PROCESS)

    def fire(self, signal: Signal) -> None:
        waiting, signal.waiting = signal.waiting, []
        for process in waiting:
            self.start(process, self.now)

    def step(self, process: Iterator) -> None:
        """A process yields the cycle it goes on in, or the signal that it waits for."""
        wait = next(process, None)
        if isinstance(wait, Signal):
            wait.waiting.append(process)
        elif wait is not None:
            self.start(process, max(wait, self.now))

    def run(self) -> None:
        while self.events:
            self.now, _, _, action = heapq.heappop(self.events)
            action()


@dataclass
class Request:
    """Beats that a client asks for, and the cycles that its answer comes in."""

    beats: int
    granted: int = -1
    first: int = -1
    last: int = -1
    grant: Signal = field(default_factory=Signal)


class Port:
    """Section "Port"."""

    def __init__(self, machine: Machine, agenda: Agenda) -> None:
        self.machine, self.agenda = machine, agenda
        self.waiting: dict[int, Request] = {}
        self.lasts: deque[int] = deque()  # last beats of requests whose answers aren't over
        self.last = self.taken = -1
        self.tries = -1

    def ask(self, client: int, request: Request) -> None:
        """From this cycle on. Client 0 is fetch, others are kinds in their order."""
        self.waiting[client] = request
        self.try_at(max(self.agenda.now, self.taken + 1))

    def try_at(self, cycle: int) -> None:
        if self.tries < 0 or cycle < self.tries:
            self.tries = cycle
            self.agenda.at(cycle, lambda: self.grant(cycle), Agenda.PORT)

    def held_until(self, now: int) -> int:
        """The cycle in which the port may be free of what holds it up in this one."""
        machine = self.machine
        while self.lasts and self.lasts[0] < now:
            self.lasts.popleft()
        if machine.last_beat_holds and self.lasts and self.lasts[0] == now:
            return now + 1
        if len(self.lasts) >= machine.outstanding:
            return self.lasts[0] + 1
        if not machine.reads_overlap and now <= self.last:
            return self.last + 1
        return now

    def grant(self, tried: int) -> None:
        if tried != self.tries:
            return
        self.tries = -1
        now = self.agenda.now
        if not self.waiting:
            return
        if (later := self.held_until(now)) > now:
            self.try_at(later)
            return
        request = self.waiting.pop(min(self.waiting))
        request.granted = self.taken = now
        request.first = max(now + self.machine.latency, self.last + 1)
        request.last = self.last = request.first + request.beats - 1
        self.lasts.append(request.last)
        self.agenda.fire(request.grant)
        if self.waiting:
            self.try_at(now + 1)


def pieces(command: Command, machine: Machine) -> Iterator[tuple[int, int]]:
    """Section "Rows": beats and bytes of each request of a read or burst of a write."""
    page = machine.page_beats * machine.port_bytes
    for row in range(command.rows):
        begin = command.address + row * command.pitch
        end = begin + command.row_bytes
        while begin < end:
            stop = min(end, (begin // page + 1) * page)
            lines = (stop - 1) // machine.port_bytes - begin // machine.port_bytes + 1
            yield lines, stop - begin
            begin = stop


def last_pad(command: Command, first: int, writes: Sequence[tuple[int, int]]) -> int:
    """Section "Padding": the cycle of the last one, -1 without. Data take ranges of cycles."""
    if not command.pads_above + command.pads_passed + command.pads_below:
        return -1
    cycle, busy = first - 1, deque(writes)
    for number, waits in (
        (command.pads_above, True),
        (command.pads_passed, False),
        (command.pads_below, True),
    ):
        for _ in range(number):
            cycle += 1
            while busy and busy[0][1] < cycle:
                busy.popleft()
            while waits and busy and busy[0][0] <= cycle:
                cycle = busy.popleft()[1] + 1
    return cycle


class Core:
    """A machine that runs a program."""

    def __init__(self, machine: Machine, program: Sequence[Command]) -> None:
        self.machine, self.program = machine, program
        self.agenda = Agenda()
        self.port = Port(machine, self.agenda)
        self.times = [Times() for _ in program]
        engines = range(len(machine.queue_depths))
        self.room = list(machine.queue_depths)
        self.ready: list[deque[int]] = [deque() for _ in engines]
        self.wake = [Signal() for _ in engines]
        self.roomy, self.left = Signal(), Signal()
        self.held: deque[int] = deque()  # cycles in which commands came into the register
        self.tokens = [0] * len(machine.token_queues)

    def run(self) -> list[Times]:
        self.agenda.start(self.fetch(), self.machine.launch_cycles)
        if self.machine.dispatch_register:
            self.agenda.start(self.dispatcher(), 0)
        for engine in range(len(self.machine.queue_depths)):
            self.agenda.start(self.engine(engine), 0)
        self.agenda.run()
        if any(times.end < 0 for times in self.times):
            raise ValueError("the program waits for ever")
        return self.times

    # Commands.

    def fetch(self) -> Iterator:
        """Section "Fetch"."""
        machine = self.machine
        beats = machine.command_bytes // machine.port_bytes
        burst = machine.page_beats // beats
        leaves = -1
        for begin in range(0, len(self.program), burst):
            commands = range(begin, min(begin + burst, len(self.program)))
            request = Request(len(commands) * beats)
            self.port.ask(0, request)
            yield request.grant
            for index in commands:
                own = request.first + (index - begin + 1) * beats - 1
                come = request.last if machine.whole_bursts else own
                yield max(leaves + 1, come + machine.fetch_cycles)
                while machine.dispatch_register and len(self.held) == machine.dispatch_register:
                    yield self.roomy
                if machine.dispatch_register:
                    self.held.append(self.agenda.now)
                    self.agenda.fire(self.left)
                else:
                    yield from self.dispatch(index)
                leaves = self.agenda.now
            yield leaves + machine.refill_cycles

    def dispatcher(self) -> Iterator:
        """The register between the buffer and the queues."""
        for index in range(len(self.program)):
            while not self.held:
                yield self.left
            yield self.held[0] + 1
            yield from self.dispatch(index)
            yield self.agenda.now + 1
            self.held.popleft()
            self.agenda.fire(self.roomy)

    def dispatch(self, index: int) -> Iterator:
        engine = self.machine.kinds[self.program[index].kind].engine
        while self.room[engine] == 0:
            yield self.roomy
        self.room[engine] -= 1
        ready = self.agenda.now + self.machine.dispatch_to_start
        self.agenda.at(ready, lambda: self.put(index, engine))

    def put(self, index: int, engine: int) -> None:
        self.ready[engine].append(index)
        self.agenda.fire(self.wake[engine])

    # Engines.

    def engine(self, engine: int) -> Iterator:
        """Section "Engines"."""
        machine = self.machine
        while True:
            while not self.may_start(engine):
                yield self.wake[engine]
            index = self.ready[engine].popleft()
            command, times = self.program[index], self.times[index]
            kind = machine.kinds[command.kind]
            for queue in command.takes:
                self.tokens[queue] -= 1
            times.start = self.agenda.now
            if kind.work == COMPUTE:
                lasts = command.items * kind.item_cycles + kind.pipeline_cycles
                times.end = times.start + lasts - 1
            elif kind.work == WRITE:
                times.end = times.start + self.write_cycles(command, kind) - 1
            else:
                yield from self.read(command, kind, times)
            self.agenda.at(times.end, lambda command=command: self.ended(engine, command))
            yield times.end + machine.end_to_start

    def may_start(self, engine: int) -> bool:
        if not self.ready[engine]:
            return False
        takes = self.program[self.ready[engine][0]].takes
        return all(self.tokens[queue] > 0 for queue in takes)

    def ended(self, engine: int, command: Command) -> None:
        now, machine = self.agenda.now, self.machine
        self.agenda.at(now + machine.end_to_room, lambda: self.leave(engine))
        for queue in command.posts:
            self.agenda.at(now + machine.token_to_start, lambda queue=queue: self.post(queue))

    def leave(self, engine: int) -> None:
        self.room[engine] += 1
        self.agenda.fire(self.roomy)

    def post(self, queue: int) -> None:
        if self.tokens[queue] == self.machine.token_limit:
            raise ValueError("a token is lost")
        self.tokens[queue] += 1
        self.agenda.fire(self.wake[self.machine.token_queues[queue].target])

    # Transfers.

    def read(self, command: Command, kind: CommandKind, times: Times) -> Iterator:
        """Section "Reads"."""
        yield times.start + kind.start_to_request + command.pad_rows * kind.pad_row_cycles
        writes, free = [], 0
        for beats, _ in pieces(command, self.machine):
            yield free
            request = Request(beats)
            self.port.ask(command.kind + 1, request)
            yield request.grant
            free = request.granted + self.machine.client_cycles
            writes.append(tuple(b + kind.beat_to_write for b in (request.first, request.last)))
        pad = last_pad(command, times.start + kind.start_to_pad, writes)
        times.end = max(writes[-1][1], pad) + kind.write_to_end

    def write_cycles(self, command: Command, kind: CommandKind) -> int:
        """Section "Writes"."""
        cycles = 0
        for beats, size in pieces(command, self.machine):
            gaps = (size // kind.item_bytes - 1) * kind.item_gap
            cycles += kind.start_to_beat + beats + gaps + self.machine.latency
        return cycles


def simulate(machine: Machine, program: Sequence[Command]) -> list[Times]:
    """First and last cycle of each command."""
    return Core(machine, program).run()
