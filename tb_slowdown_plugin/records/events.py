"""Events to their protobuf messages and back."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.records import limits
from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.limits import count, seconds, text
from tb_slowdown_plugin.records.types import (
    Capture,
    Change,
    Epoch,
    Event,
    Execution,
    Fact,
    Failure,
    GcPause,
    Idle,
    Trace,
    TraceCause,
    What,
)

_CAUSES: Final[dict[TraceCause, pb.Trace.Cause.ValueType]] = {
    "first": pb.Trace.FIRST,
    "signature": pb.Trace.SIGNATURE,
    "new_object": pb.Trace.NEW_OBJECT,
    "variables": pb.Trace.VARIABLES,
    "library": pb.Trace.LIBRARY,
    "context": pb.Trace.CONTEXT,
    "reported": pb.Trace.REPORTED,
}
_CAUSE_NAMES: Final = {number: name for name, number in _CAUSES.items()}


def encode_event(event: Event) -> pb.Event:
    """The message of an event."""
    message = pb.Event(row=event.row, time=event.time)
    what = event.what
    match what:
        case Trace():
            message.trace.CopyFrom(_encode_trace(what))
        case Execution():
            message.execution.CopyFrom(
                pb.Execution(
                    trace=what.trace, nth=what.nth, seconds=what.seconds, elsewhere=what.elsewhere
                )
            )
        case GcPause():
            message.gc_pause.CopyFrom(
                pb.GcPause(
                    generation=what.generation,
                    seconds=what.seconds,
                    collected=what.collected,
                    elsewhere=what.elsewhere,
                )
            )
        case Epoch():
            message.epoch.CopyFrom(pb.Epoch(number=what.number))
        case Idle():
            message.idle.CopyFrom(pb.Idle(seconds=what.seconds))
        case Failure():
            message.failure.CopyFrom(pb.Failure(part=what.part, reason=what.reason))
        case Capture():
            message.capture.CopyFrom(pb.Capture(session=what.session, running=what.running))
        case Fact():
            message.fact.CopyFrom(
                pb.Fact(name=what.name, subject=what.subject, numbers=dict(what.numbers))
            )
    return message


def decode_event(message: pb.Event) -> Event | None:
    """The event of a message; None for a kind that this version does not know.

    Raises:
      DecodeError: It has a time that is none.
    """
    what = _decode_what(message)
    return None if what is None else Event(message.row, seconds(message.time, "an event"), what)


def _encode_trace(trace: Trace) -> pb.Trace:
    return pb.Trace(
        id=trace.id,
        function=trace.function,
        location=trace.location,
        seconds=trace.seconds,
        building_seconds=trace.building_seconds,
        count=trace.count,
        operations=trace.operations,
        depth=trace.depth,
        cause=_CAUSES[trace.cause],
        changes=[
            pb.Change(argument=c.argument, what=c.what, before=c.before, after=c.after)
            for c in trace.changes
        ],
        elsewhere=trace.elsewhere,
        jit_compile=trace.jit_compile,
        signature=trace.signature,
        reason=trace.reason,
        variable_elements=trace.variable_elements,
        new_model=trace.new_model,
    )


def _decode_what(message: pb.Event) -> What | None:
    which = message.WhichOneof("what")
    match which:
        case "trace":
            return _decode_trace(message.trace)
        case "execution":
            run = message.execution
            spent = seconds(run.seconds, "an execution")
            return Execution(count(run.trace), run.nth, spent, run.elsewhere)
        case "gc_pause":
            pause = message.gc_pause
            spent = seconds(pause.seconds, "a collection")
            return GcPause(pause.generation, spent, count(pause.collected), pause.elsewhere)
        case "epoch":
            return Epoch(count(message.epoch.number))
        case "idle":
            return Idle(seconds(message.idle.seconds, "idle time"))
        case "failure":
            return Failure(text(message.failure.part), text(message.failure.reason))
        case "capture":
            return Capture(text(message.capture.session), message.capture.running)
        case "fact":
            fact = message.fact
            limits.few("numbers of a fact", len(fact.numbers), limits.MAX_LISTED)
            return Fact(text(fact.name), text(fact.subject), limits.numbers(fact.numbers))
    return None


def _decode_trace(trace: pb.Trace) -> Trace:
    limits.few("changes of a trace", len(trace.changes), limits.MAX_LISTED)
    limits.few("arguments of a trace", len(trace.signature), limits.MAX_LISTED)
    return Trace(
        id=count(trace.id),
        function=text(trace.function),
        location=text(trace.location),
        seconds=seconds(trace.seconds, "a trace"),
        building_seconds=seconds(trace.building_seconds, "graph building"),
        cause=_CAUSE_NAMES.get(trace.cause, "reported"),
        count=count(trace.count),
        operations=count(trace.operations),
        depth=trace.depth,
        changes=tuple(
            Change(text(c.argument), text(c.what), text(c.before), text(c.after))
            for c in trace.changes
        ),
        elsewhere=trace.elsewhere,
        jit_compile=trace.jit_compile,
        signature=tuple(text(argument) for argument in trace.signature),
        reason=text(trace.reason),
        variable_elements=count(trace.variable_elements),
        new_model=trace.new_model,
    )
