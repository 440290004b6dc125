"""Where the live page listens: on this machine alone, or, where that is asked for, where others can reach it."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wmlab.errors import UsageError
from wmlab.limits import shorten

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class LiveAddress:
    """An address of this machine that can be listened on."""

    host: str  # as it was asked for
    family: socket.AddressFamily
    rest: tuple[Any, ...]  # of what a socket is bound to, after number and port
    number: str

    @property
    def _ip(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
        return ipaddress.ip_address(self.number.partition("%")[0])

    @cached_property
    def names(self) -> list[str]:
        """By what it is asked: the first stands in the address of a page."""
        number = f"[{self.number}]" if self._ip.version == 6 else self.number
        if self._ip.is_unspecified:
            return [socket.gethostname().lower(), socket.getfqdn().lower(), "localhost", number]
        return [number if ":" in self.host else self.host.lower(), number, *(["localhost"] * self._ip.is_loopback)]

    def is_own(self, name: str) -> bool:
        """Whether a page was asked for by its own address, and not by a name that somebody gave it.

        Where all addresses are listened on, every number is its own: a name of another's making is none.
        """
        return name in self.names or (self._ip.is_unspecified and is_number(name))

    @property
    def warning(self) -> str:
        """What it means to listen there; nothing where this machine alone can reach it."""
        if self._ip.is_loopback:
            return ""
        return (
            f"the live page listens on {self.host}: everyone who can reach that and has the address with its token can"
            " read the run, and nothing of it is encrypted"
        )


def is_number(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        return False


def live_address(host: str | None) -> LiveAddress:
    """The address that was asked for; UsageError where it is none of this machine."""
    host = LOOPBACK if host is None else host
    try:
        family, _, _, _, (number, _, *rest) = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as trial:
            trial.bind((number, 0, *rest))
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no address"
        hint = "name an address of this machine, 0.0.0.0 or :: for all of them, or leave --host out"
        raise UsageError(f"--host {shorten(host)} cannot be listened on ({reason}); {hint}") from None
    return LiveAddress(host, family, tuple(rest), str(number))
