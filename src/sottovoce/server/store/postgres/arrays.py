"""Columns of reports as PostgreSQL reads arrays, made in one go; psycopg makes them element by element."""

import struct
from collections.abc import Callable, Sequence

import psycopg
from psycopg.adapt import Dumper
from psycopg.postgres import types
from psycopg.pq import Format

HEAD = struct.Struct(">iiIii")
"""How many dimensions, whether there are nulls, the type of an element, how many there are, the number of the first."""
LENGTH = struct.Struct(">i")
INTEGER, SMALLINT = struct.Struct(">ii"), struct.Struct(">ih")
"""An element behind its length."""


class Integers(bytes):
    """An `integer[]` in binary form."""


class Smallints(bytes):
    """A `smallint[]`."""


class Octets(bytes):
    """A `bytea[]`."""


def integers(column: Sequence[int]) -> Integers:
    """Four bytes each.

    >>> integers([7]).hex(" ", -4)
    '00000001 00000000 00000017 00000001 00000001 00000004 00000007'
    """
    return Integers(_head("int4", column) + _each(column, lambda number: INTEGER.pack(4, number)))


def smallints(column: Sequence[int]) -> Smallints:
    """Two bytes each."""
    return Smallints(_head("int2", column) + _each(column, lambda number: SMALLINT.pack(2, number)))


def octets(column: Sequence[bytes]) -> Octets:
    """What reports hold is nearly always of one length.

    >>> octets([b"ab", b"cd"])[20:].hex(), octets([b"ab", b"c"])[20:].hex()
    ('000000026162000000026364', '0000000261620000000163')
    """
    lengths = set(map(len, column))
    if len(lengths) == 1:
        length = LENGTH.pack(lengths.pop())
        return Octets(_head("bytea", column) + length + length.join(column))
    return Octets(_head("bytea", column) + b"".join([LENGTH.pack(len(one)) + one for one in column]))


def _head(type: str, column: Sequence[object]) -> bytes:
    return HEAD.pack(1, 0, types[type].oid, len(column), 1)


def _each(column: Sequence[int], pack: Callable[[int], bytes]) -> bytes:
    """The same numbers come again and again: each is packed once."""
    packed = {number: pack(number) for number in set(column)}
    return b"".join([packed[number] for number in column])


class _Ready(Dumper):
    """Passes on what is in binary form already."""

    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return obj


class _Integers(_Ready):
    oid = types["int4"].array_oid


class _Smallints(_Ready):
    oid = types["int2"].array_oid


class _Octets(_Ready):
    oid = types["bytea"].array_oid


for _kind, _dumper in ((Integers, _Integers), (Smallints, _Smallints), (Octets, _Octets)):
    psycopg.adapters.register_dumper(_kind, _dumper)
