"""Addresses: whom a limit counts, and where a server is. Those of clients are held in memory only, and never logged."""

import contextlib
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


def client_of(peer: str, forwarded: str, proxies: int) -> str:
    """The group of whoever asks, behind so many trusted proxies.

    Each proxy adds the address it was asked from to the right end of X-Forwarded-For, so the one that is `proxies`
    places from the right was written by the outermost of them. What is further left anybody can write.

    >>> client_of("10.0.0.1", "203.0.113.9, 192.0.2.7", 1), client_of("10.0.0.1", "203.0.113.9, 192.0.2.7", 0)
    ('192.0.2.7', '10.0.0.1')
    """
    if proxies:
        given = forwarded.split(",")
        with contextlib.suppress(IndexError, ValueError):
            return group_of(str(ipaddress.ip_address(given[-proxies].strip())))
    return group_of(peer) if peer else ""


def url_of(host: str, port: int) -> str:
    """Where a server can be reached.

    >>> url_of("127.0.0.1", 8080), url_of("::1", 8080)
    ('http://127.0.0.1:8080', 'http://[::1]:8080')
    """
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
