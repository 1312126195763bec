"""Whom a limit counts: a client's address. Addresses are held in memory only, and never logged."""

import ipaddress


def group_of(address: str) -> str:
    """What one client can be told apart by: an IPv4 address, or the first half of an IPv6 address.

    >>> group_of("192.0.2.7"), group_of("::ffff:192.0.2.7"), group_of("2001:db8:1:2:3:4:5:6")
    ('192.0.2.7', '192.0.2.7', '2001:db8:1:2::')
    """
    if ":" not in address:
        return address
    parsed = ipaddress.IPv6Address(address.partition("%")[0])
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(parsed) >> 64 << 64))
