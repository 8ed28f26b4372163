"""Which hosts are this machine."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str | None) -> bool:
    """Return whether a name or address is that of the loopback interface."""
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return host == "localhost"
