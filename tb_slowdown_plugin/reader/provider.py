"""TensorBoard's side of the reader: the only module that imports TensorBoard.

Everything TensorBoard-shaped ends here: data provider, run and tag filters, event
protos, multiplexer. The rest of the reader sees `Record`s.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, TypeAlias

from google.protobuf.message import DecodeError as ProtobufError

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.scalars.scalar_series import SCALARS_PLUGIN
from tb_slowdown_plugin.records.metadata import PLUGIN_NAME

_ALL: Final = 1 << 30
"""`downsample` must be given; a tag holds at most a few records, so this means all."""

_TAGS_PER_READ: Final = 256
"""About 8 MB: gRPC refuses an answer above 256 MB, and memory is not needed twice."""

_MOST_POINTS: Final = 10_000
"""Of a scalar of a remote logdir, for runs without records: 20 scalars of 1,000 runs take some
GB with all their points."""

_MARK: Final = PLUGIN_NAME.encode()

_HYPERPARAMETERS_MARK: Final = b"_hparams_/session_start_info"

Logged: TypeAlias = Mapping[str, str | float | bool]
"""Name -> value of hyperparameters."""


@dataclass(frozen=True, slots=True)
class Tag:
    """How far one tag has come."""

    last_sequence: int
    last_time: float
    """Unix seconds at which its last record was written."""


class ProviderRecords:
    """Our records in a TensorBoard `DataProvider`, for one request.

    Args:
      provider: `TBContext.data_provider`.
      context: The request's `RequestContext`, None outside a request.
      experiment: The experiment id of the request; "" for a local TensorBoard.
    """

    def __init__(self, provider: Any, context: Any = None, experiment: str = "") -> None:
        from tensorboard.context import RequestContext

        self._provider = provider
        self._context = RequestContext() if context is None else context
        self._experiment = experiment

    def tags(self) -> dict[str, dict[str, Tag]]:
        """TensorBoard run -> tag -> how far it has come."""
        listed = self._provider.list_tensors(
            self._context,
            experiment_id=self._experiment,
            plugin_name=PLUGIN_NAME,
            run_tag_filter=_run_tag_filter(None, None),
        )
        return {
            run: {
                tag: Tag(int(series.max_step), float(series.max_wall_time))
                for tag, series in tags.items()
                if series.max_step is not None
            }
            for run, tags in listed.items()
        }

    def read(self, wanted: Mapping[str, Collection[str]]) -> Iterator[Record]:
        """The records of some tags (TensorBoard run -> tags), each session's in ascending order."""
        batch: dict[str, list[str]] = {}
        room = _TAGS_PER_READ
        for run, tags in wanted.items():
            ordered = sorted(tags, key=_place)
            while ordered:
                batch[run], ordered = ordered[:room], ordered[room:]
                room -= len(batch[run])
                if not room:
                    yield from self._read_batch(batch)
                    batch, room = {}, _TAGS_PER_READ
        if batch:
            yield from self._read_batch(batch)

    def _read_batch(self, batch: Mapping[str, list[str]]) -> list[Record]:
        tags = [tag for of_run in batch.values() for tag in of_run]
        try:
            found = self._provider.read_tensors(
                self._context,
                experiment_id=self._experiment,
                plugin_name=PLUGIN_NAME,
                downsample=_ALL,
                run_tag_filter=_run_tag_filter(list(batch), tags),
            )
        except (TypeError, ValueError):  # a tensor that is not what its shape claims
            if len(tags) == 1:
                return []
            alone = ({run: [tag]} for run, of_run in batch.items() for tag in of_run)
            return [record for each in alone for record in self._read_batch(each)]
        return [
            Record(run, tag, int(datum.step), payload)
            for run, of_run in batch.items()
            for tag in of_run
            for datum in sorted(found.get(run, {}).get(tag, ()), key=lambda datum: datum.step)
            for payload in datum.numpy.reshape(-1)
            if isinstance(payload, bytes)
        ]

    def hyperparameters(self) -> dict[str, dict[str, str | float | bool]]:
        """TensorBoard run -> what its program logged for the HParams plugin."""
        from tensorboard.plugins.hparams import metadata

        listed = self._provider.list_tensors(
            self._context,
            experiment_id=self._experiment,
            plugin_name=metadata.PLUGIN_NAME,
            run_tag_filter=_run_tag_filter(None, [metadata.SESSION_START_INFO_TAG]),
        )
        found = {}
        for run, tags in listed.items():
            for series in tags.values():
                logged = _values_in(series.plugin_content)
                if logged is not None:
                    found[run] = logged
        return found

    def all_runs(self) -> list[str]:
        """Each run that TensorBoard knows, ours or not."""
        runs = self._provider.list_runs(self._context, experiment_id=self._experiment)
        return [str(run.run_name) for run in runs]


def records_in_event(run: str, raw: bytes) -> Iterator[Record]:
    """Our records in the bytes of one event of an event file; mostly none.

    Raises:
      DecodeError: The bytes are no event.
    """
    if _MARK not in raw:  # spares parsing the user's images and graphs
        return
    from tensorboard.compat.proto import event_pb2

    try:
        event = event_pb2.Event.FromString(raw)
    except ProtobufError as error:
        raise DecodeError(f"event is damaged: {error}") from error
    for value in event.summary.value:
        if value.metadata.plugin_data.plugin_name == PLUGIN_NAME:
            for payload in value.tensor.string_val:
                yield Record(run, value.tag, event.step, payload)


def hyperparameters_in_event(raw: bytes) -> Logged:
    """What a program logged for the HParams plugin in the bytes of one event; mostly nothing."""
    if _HYPERPARAMETERS_MARK not in raw:
        return {}
    from tensorboard.compat.proto import event_pb2

    try:
        values = event_pb2.Event.FromString(raw).summary.value
    except ProtobufError:
        return {}
    found: dict[str, str | float | bool] = {}
    for value in values:
        if value.tag.encode() == _HYPERPARAMETERS_MARK:
            found |= _values_in(value.metadata.plugin_data.content) or {}
    return found


def _values_in(plugin_content: bytes) -> dict[str, str | float | bool] | None:
    """Name -> value, as the HParams plugin packs them; None where it is of another version."""
    from tensorboard.plugins.hparams import metadata

    try:
        info = metadata.parse_session_start_info_plugin_data(plugin_content)
    except (metadata.error.HParamsError, ProtobufError):
        return None
    return {
        name: getattr(value, value.WhichOneof("kind"))
        for name, value in sorted(info.hparams.items())
        if value.WhichOneof("kind") in ("number_value", "string_value", "bool_value")
    }


class GrowingLogdir:
    """A data provider over a whole logdir on any filesystem that TensorBoard reads.

    Slow for what it is not needed for: it checks checksums in Python where TensorFlow
    is not installed, and reads the user's own event files with ours.
    """

    def __init__(self, logdir: str) -> None:
        from tensorboard.backend.event_processing import (
            data_provider,
            plugin_event_accumulator,
            plugin_event_multiplexer,
        )

        sizes = dict.fromkeys(plugin_event_accumulator.DEFAULT_SIZE_GUIDANCE, 1)
        self._logdir = logdir
        self._multiplexer = plugin_event_multiplexer.EventMultiplexer(
            size_guidance=sizes,
            tensor_size_guidance={PLUGIN_NAME: 0, SCALARS_PLUGIN: _MOST_POINTS},
            purge_orphaned_data=False,
        )
        self.provider: Any = data_provider.MultiplexerDataProvider(self._multiplexer, logdir)

    def reload(self) -> None:
        """Reads what was written since the last call, new runs included."""
        self._multiplexer.AddRunsFromDirectory(self._logdir)
        self._multiplexer.Reload()


def load_filesystem(logdir: str = "") -> None:
    """Imports what TensorBoard reads files with: 3 s where TensorFlow is installed.

    TensorFlow is left out for an address that fsspec opens: it knows few of them.
    """
    scheme, is_address, _ = logdir.partition("://")
    if is_address and _can_open(scheme):
        sys.modules.setdefault("tensorboard.compat.notf", ModuleType("tensorboard.compat.notf"))
    from tensorboard.compat import tf

    tf.io.gfile.exists(".")


def _can_open(scheme: str) -> bool:
    try:
        import fsspec

        fsspec.get_filesystem_class(scheme)
    except (ImportError, ValueError):
        return False
    return True


def open_logdir(logdir: str) -> Any:
    """A data provider over a whole logdir, loaded."""
    growing = GrowingLogdir(logdir)
    growing.reload()
    return growing.provider


def _place(tag: str) -> tuple[str, int, str]:
    """Sorts the tags of a session by their number, not as texts."""
    session, _, number = tag.rpartition("/")
    return session, int(number) if number.isascii() and number.isdecimal() else 0, tag


def _run_tag_filter(runs: Collection[str] | None, tags: Collection[str] | None) -> Any:
    from tensorboard.data import provider

    return provider.RunTagFilter(runs=runs, tags=tags)
