"""The address guard: every spelling of an address, judged."""

import ipaddress

import pytest

from resources.address_guard import forbidden_address


@pytest.mark.parametrize(
    ("ip", "reason"),
    [
        ("0.0.0.0", "this network"),
        ("0.1.2.3", "this network"),
        ("10.255.255.255", "private"),
        ("100.64.0.1", "shared by a carrier"),
        ("100.127.255.255", "shared by a carrier"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("169.254.169.254", "link-local"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.0.0.8", "protocol assignments"),
        ("192.0.2.1", "documentation"),
        ("192.168.1.1", "private"),
        ("198.18.0.1", "benchmarks"),
        ("224.0.0.251", "multicast"),
        ("239.255.255.250", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("0:0:0:0:0:0:0:1", "loopback"),
        ("::127.0.0.1", "reserved"),
        ("::8.8.8.8", "reserved"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:7f00:1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:169.254.169.254", "link-local"),
        ("64:ff9b::10.0.0.1", "private"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("64:ff9b:1::8.8.8.8", "reserved"),
        ("2002:7f00:1::", "loopback"),
        ("2002:c0a8:101::1", "private"),
        ("2002:a9fe:a9fe::1", "link-local"),
        ("2001::1", "protocol assignments"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("fc00::1", "unique local"),
        ("fd00:ec2::254", "unique local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("100::1", "reserved"),
        ("4000::1", "reserved"),
        ("localhost", "not an IP address"),
        ("0x7f.1", "not an IP address"),
        ("2130706433", "not an IP address"),
        ("", "not an IP address"),
    ],
)
def test_an_address_that_is_not_global_unicast_is_forbidden(ip: str, reason: str) -> None:
    assert forbidden_address(ip) == reason


@pytest.mark.parametrize(
    "ip",
    [
        "8.8.8.8",
        "9.255.255.255",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "169.253.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2a00:1450:4001::200e",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
    ],
)
def test_a_global_unicast_address_may_be_asked(ip: str) -> None:
    assert forbidden_address(ip) == ""


def test_what_the_standard_library_calls_private_is_never_allowed() -> None:
    for high in range(256):
        for low in (0, 1, 16, 64, 100, 127, 168, 254, 255):
            ip = f"{high}.{low}.2.1"
            assert not (ipaddress.ip_address(ip).is_private and forbidden_address(ip) == ""), ip
