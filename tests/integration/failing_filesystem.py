"""A filesystem in memory that fails and dawdles as it is told: real errors from a real mount.

    python failing_filesystem.py MOUNT_POINT CONTROL_FILE

The control file holds JSON: `{"write": "EIO", "slow_seconds": 2.0, "capacity_bytes": 100000}`,
each key optional; `write` and `create` name the error that such a request gets. It is read at
each request. The server is single-threaded: whoever asks it anything waits for a slow write, as
with a disk that hangs. It speaks the kernel's FUSE protocol (version 7.31) itself and needs
/dev/fuse and the right to mount.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_HEADER = struct.Struct("<IIQQIIII")
_ATTRIBUTES = struct.Struct("<QQQQQQIIIIIIIIII")
_MOST_WRITTEN = 1 << 17
_SIZE_IS_GIVEN = 1 << 3


class FailingFilesystem:
    """One mounted: files and folders are bytes and dicts in memory."""

    def __init__(self, mount_point: str, control: Path) -> None:
        self._control = control
        self._nodes: dict[int, bytearray | dict[str, int]] = {1: {}}
        self._next = 2
        self._device = os.open("/dev/fuse", os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self._device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
        if libc.mount(b"failing", mount_point.encode(), b"fuse.failing", 0, options.encode()):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def serve(self) -> None:
        """Answers until it is unmounted."""
        answers = {
            1: self._lookup, 3: self._get_attributes, 4: self._set_attributes,
            8: self._make_node, 9: self._make_folder, 10: self._remove, 11: self._remove,
            12: self._rename, 14: self._open, 15: self._read, 16: self._write, 17: self._room,
            26: self._begin, 27: self._open, 28: self._list, 35: self._create,
            45: self._rename,
        }  # fmt: skip
        quiet = (18, 20, 25, 29, 30, 34)  # release, fsync, flush, release, fsync, access
        while True:
            try:
                request = os.read(self._device, _MOST_WRITTEN + 4096)
            except OSError as error:
                if error.errno == errno.ENODEV:
                    return
                continue
            length, code, unique, node, *_ = _HEADER.unpack_from(request)
            if code in (2, 36, 42):  # forget and interrupt want no answer
                continue
            body, status = b"", 0
            try:
                if code in answers:
                    body = answers[code](node, request[_HEADER.size : length])
                elif code not in quiet:
                    status = errno.ENOSYS
            except OSError as error:
                status, body = error.errno or errno.EIO, b""
            answer = struct.pack("<IiQ", 16 + len(body), -status, unique) + body
            with contextlib.suppress(OSError):
                os.write(self._device, answer)

    @property
    def _told(self) -> dict[str, Any]:
        try:
            told: dict[str, Any] = json.loads(self._control.read_text())
        except (OSError, ValueError):
            return {}
        return told

    def _fail_if_told(self, what: str) -> None:
        name = self._told.get(what)
        if name:
            raise OSError(getattr(errno, name), name)

    def _folder(self, node: int) -> dict[str, int]:
        found = self._nodes[node]
        if not isinstance(found, dict):
            raise OSError(errno.ENOTDIR, "")
        return found

    def _file(self, node: int) -> bytearray:
        found = self._nodes[node]
        if not isinstance(found, bytearray):
            raise OSError(errno.EISDIR, "")
        return found

    def _used(self) -> int:
        return sum(len(node) for node in self._nodes.values() if isinstance(node, bytearray))

    def _attributes(self, node: int) -> bytes:
        found = self._nodes[node]
        is_folder = isinstance(found, dict)
        mode = (stat.S_IFDIR | 0o777) if is_folder else (stat.S_IFREG | 0o666)
        size = 0 if is_folder else len(found)
        now = int(time.time())
        return _ATTRIBUTES.pack(
            node, size, (size + 511) // 512, now, now, now, 0, 0, 0,
            mode, 2 if is_folder else 1, os.getuid(), os.getgid(), 0, 4096, 0,
        )  # fmt: skip

    def _entry(self, node: int) -> bytes:
        return struct.pack("<QQQQII", node, 0, 0, 0, 0, 0) + self._attributes(node)

    def _begin(self, _: int, data: bytes) -> bytes:
        major, _minor, readahead, _flags = struct.unpack_from("<IIII", data)
        begun = struct.pack(
            "<IIIIHHIIHHI", major, 31, readahead, 0, 16, 12, _MOST_WRITTEN, 1, 0, 0, 0
        )
        return begun + bytes(28)

    def _lookup(self, node: int, data: bytes) -> bytes:
        found = self._folder(node).get(_text(data))
        if found is None:
            raise OSError(errno.ENOENT, "")
        return self._entry(found)

    def _get_attributes(self, node: int, _: bytes) -> bytes:
        return struct.pack("<QII", 0, 0, 0) + self._attributes(node)

    def _set_attributes(self, node: int, data: bytes) -> bytes:
        valid, _, _, size = struct.unpack_from("<IIQQ", data)
        if valid & _SIZE_IS_GIVEN:
            file = self._file(node)
            del file[size:]
            file.extend(bytes(size - len(file)))
        return self._get_attributes(node, b"")

    def _add(self, node: int, name: str, new: bytearray | dict[str, int]) -> int:
        self._fail_if_told("create")
        self._nodes[self._next] = new
        self._folder(node)[name] = self._next
        self._next += 1
        return self._next - 1

    def _make_node(self, node: int, data: bytes) -> bytes:
        return self._entry(self._add(node, _text(data[16:]), bytearray()))

    def _make_folder(self, node: int, data: bytes) -> bytes:
        return self._entry(self._add(node, _text(data[8:]), {}))

    def _create(self, node: int, data: bytes) -> bytes:
        return self._entry(self._add(node, _text(data[16:]), bytearray())) + bytes(16)

    def _remove(self, node: int, data: bytes) -> bytes:
        if self._folder(node).pop(_text(data), None) is None:
            raise OSError(errno.ENOENT, "")
        return b""

    def _rename(self, node: int, data: bytes) -> bytes:
        (folder,) = struct.unpack_from("<Q", data)
        old, new = data[8:].lstrip(b"\0").split(b"\0")[:2]
        self._folder(folder)[new.decode()] = self._folder(node).pop(old.decode())
        return b""

    def _open(self, _: int, __: bytes) -> bytes:
        return bytes(16)

    def _read(self, node: int, data: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<QQI", data)
        return bytes(self._file(node)[offset : offset + size])

    def _write(self, node: int, data: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<QQI", data)
        began = time.monotonic()
        while time.monotonic() - began < self._told.get("slow_seconds", 0.0):
            time.sleep(0.02)
        told = self._told
        self._fail_if_told("write")
        file = self._file(node)
        most = told.get("capacity_bytes")
        if most is not None and self._used() + max(0, offset + size - len(file)) > most:
            raise OSError(errno.ENOSPC, "")
        file.extend(bytes(max(0, offset - len(file))))
        file[offset : offset + size] = data[40 : 40 + size]
        return struct.pack("<II", size, 0)

    def _room(self, _: int, __: bytes) -> bytes:
        free = max(0, self._told.get("capacity_bytes", 1 << 30) - self._used()) // 4096
        return struct.pack(
            "<QQQQQIIII", 1 << 20, free, free, 1 << 20, 1 << 20, 4096, 255, 4096, 0
        ) + bytes(24)

    def _list(self, node: int, data: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<QQI", data)
        entries = b""
        for index, (name, number) in enumerate(list(self._folder(node).items())):
            if index < offset:
                continue
            kind = stat.S_IFDIR if isinstance(self._nodes[number], dict) else stat.S_IFREG
            raw = name.encode()
            entry = struct.pack("<QQII", number, index + 1, len(raw), kind >> 12) + raw
            entry += bytes(-len(entry) % 8)
            if len(entries) + len(entry) > size:
                break
            entries += entry
        return entries


def _text(data: bytes) -> str:
    return data.partition(b"\0")[0].decode()


class Mounted:
    """A failing filesystem in a process of its own, and how it is told to fail."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "mounted"
        self._control = folder / "control.json"
        self.path.mkdir()
        self.tell()
        command = [sys.executable, __file__, str(self.path), str(self._control)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def tell(self, **faults: Any) -> None:
        """What happens from now on; nothing without arguments."""
        new = self._control.with_suffix(".new")
        new.write_text(json.dumps(faults))
        new.replace(self._control)

    def wait(self) -> str:
        """Until it is mounted; returns why it is not, "" if it is."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        if self._process.stdout.readline() == b"mounted\n":
            return ""
        lines = self._process.stderr.read().decode().strip().splitlines()
        return lines[-1] if lines else "no reason given"

    def close(self) -> None:
        """Unmounts; what still hangs in it is let go."""
        self.tell()
        libc = ctypes.CDLL(None)
        libc.umount2(str(self.path).encode(), 2)
        self._process.kill()
        self._process.communicate()


@contextlib.contextmanager
def mounted(folder: Path) -> Iterator[Mounted]:
    """A failing filesystem below a folder; skips the test where none can be mounted."""
    import pytest

    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("no failing filesystem: /dev/fuse is not there, or not ours to open")
    filesystem = Mounted(folder)
    try:
        reason = filesystem.wait()
        if reason:
            pytest.skip(f"no failing filesystem: {reason}")
        yield filesystem
    finally:
        filesystem.close()


if __name__ == "__main__":
    served = FailingFilesystem(sys.argv[1], Path(sys.argv[2]))
    sys.stdout.write("mounted\n")
    sys.stdout.flush()
    served.serve()
