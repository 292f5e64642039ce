import io

import pytest
from event_files import frame
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c as tensorboards

from tb_slowdown_plugin.reader.event_files import (
    Damage,
    RecordFile,
)
from tb_slowdown_plugin.records.event_file.checksum import masked_crc32c


def read(data: bytes) -> tuple[list[bytes], Damage | None]:
    file = RecordFile(io.BytesIO(data), len(data))
    records = list(file)
    assert RecordFile(io.BytesIO(data), len(data)).check() == file.damage
    return records, file.damage


@pytest.mark.parametrize("length", [0, 1, 9, 63, 64, 65, 255, 256, 257, 512, 2000])
def test_the_checksum_is_tensorboards(length: int) -> None:
    data = bytes(7 * place % 251 for place in range(length))
    assert masked_crc32c(data) == tensorboards(data)


def test_whole_records_come_out_without_damage() -> None:
    assert read(frame(b"one") + frame(b"") + frame(b"three" * 1000)) == (
        [b"one", b"", b"three" * 1000],
        None,
    )


def test_an_empty_file_is_whole() -> None:
    assert read(b"") == ([], None)


def test_a_file_cut_anywhere_keeps_all_records_before_the_cut() -> None:
    data = frame(b"one") + frame(b"second")
    first = len(frame(b"one"))
    for cut in range(1, len(data)):
        records, damage = read(data[:cut])
        if cut == first:
            assert (records, damage) == ([b"one"], None)
        elif cut < first:
            assert (records, damage) == ([], Damage("truncated", 0, cut))
        else:
            assert (records, damage) == ([b"one"], Damage("truncated", first, cut - first))


def test_a_flipped_bit_in_a_length_stops_the_reading_there() -> None:
    first, second = frame(b"one"), frame(b"second")
    for bit in range(12 * 8):
        flipped = bytearray(first + second)
        flipped[len(first) + bit // 8] ^= 1 << bit % 8
        assert read(bytes(flipped)) == ([b"one"], Damage("corrupt", len(first), len(second)))


def test_what_is_no_event_file_is_foreign() -> None:
    assert read(b"PK\x03\x04" * 10) == ([], Damage("foreign", 0, 40))


def test_a_length_beyond_any_event_is_refused_though_its_checksum_fits() -> None:
    length = (1 << 40).to_bytes(8, "little")
    data = length + masked_crc32c(length).to_bytes(4, "little") + b"x" * 20
    assert read(data) == ([], Damage("foreign", 0, 32))


def test_a_file_that_shrinks_while_it_is_read_counts_as_truncated() -> None:
    data = frame(b"one") + frame(b"second")
    file = RecordFile(io.BytesIO(data[:-3]), len(data))
    assert list(file) == [b"one"]
    assert file.damage == Damage("truncated", len(frame(b"one")), len(frame(b"second")))
