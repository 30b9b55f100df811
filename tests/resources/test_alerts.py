"""Alert sinks against real servers on loopback: what arrives, what is refused, what never goes out."""

import email.policy
import ssl
from datetime import UTC, datetime
from email import message_from_string
from pathlib import Path

import pytest

from resources.alerts import SlackAlerts, WebhookAlerts
from resources.errors import TransientError
from resources.mail_alerts import MailAlerts, MailServer
from resources.ports import Alert, FailedPlace
from tests.support.alert_receivers import HookReceiver, MailReceiver
from tests.support.authority import make_authority

TLS = ssl.create_default_context()
AT = datetime(2030, 1, 1, 12, tzinfo=UTC)
ALERT = Alert(
    "links failed: <Parser> & co",
    AT,
    AT,
    [
        FailedPlace("a.test", "links", "测深 <b>", "http://ui/runs/1"),
        FailedPlace("b.test", "links", "no\nBcc: x", "http://ui/runs/2", succeeded_since=True),
    ],
    more=3,
)


def mail_alerts(
    receiver: MailReceiver, *, host: str | None = None, user: str = "", tls: ssl.SSLContext = TLS
) -> MailAlerts:
    server = MailServer(host or receiver.host, receiver.port, user=user, password=user and "secret")
    return MailAlerts(server, to=["ops@a.test", "boss@b.test"], sender="isobath@a.test", tls=tls)


def test_a_webhook_gets_all_that_is_known_as_json() -> None:
    with HookReceiver() as hook:
        WebhookAlerts(hook.url, tls=TLS).send(ALERT)
    (body,) = hook.taken
    assert (body["title"], body["more"], body["first_at"]) == (ALERT.title, 3, "2030-01-01T12:00:00+00:00")
    assert [(place["site"], place["link"], place["succeeded_since"]) for place in body["places"]] == [
        ("a.test", "http://ui/runs/1", False),
        ("b.test", "http://ui/runs/2", True),
    ]
    assert "and 3 others" in body["text"]


def test_slack_gets_escaped_text_with_links() -> None:
    with HookReceiver() as hook:
        SlackAlerts(hook.url, tls=TLS).send(ALERT)
    (body,) = hook.taken
    assert body["text"].startswith("*Isobath: links failed: &lt;Parser&gt; &amp; co (5 sites)*\n")
    assert "• a.test, links: 测深 &lt;b&gt; <http://ui/runs/1|open>" in body["text"]


@pytest.mark.parametrize("status", [301, 404, 500])
def test_what_a_webhook_does_not_take_is_an_error_without_its_address(status: int) -> None:
    with HookReceiver() as hook:
        hook.status = status
        with pytest.raises(TransientError, match=f"webhook: answered {status}") as raised:
            WebhookAlerts(hook.url, tls=TLS).send(ALERT)
    assert "secret-path" not in str(raised.value)
    with pytest.raises(TransientError, match="cannot be reached") as raised:
        WebhookAlerts(hook.url, tls=TLS).send(ALERT)  # nobody listens any more
    assert "secret-path" not in str(raised.value)


def test_mail_arrives_with_its_readers_and_one_line_a_place() -> None:
    with MailReceiver() as receiver:
        mail_alerts(receiver, user="bot").send(ALERT)
    ((readers, text),) = receiver.taken
    mail = message_from_string(text, policy=email.policy.default)
    assert readers == ["ops@a.test", "boss@b.test"]
    assert (mail["From"], mail["Subject"]) == ("isobath@a.test", "Isobath: links failed: <Parser> & co (5 sites)")
    assert mail["Bcc"] is None
    content = mail.get_content()
    assert "- a.test, links: 测深 <b>\n  http://ui/runs/1" in content
    assert "b.test, links: no Bcc: x (has succeeded since)" in content
    assert receiver.logins == [(False, ["bot", "secret"])]  # it stays on this machine


def test_a_reader_that_is_refused_does_not_keep_the_others_from_their_mail() -> None:
    with MailReceiver() as receiver:
        receiver.refused = {"boss"}
        mail_alerts(receiver).send(ALERT)
        assert [readers for readers, _ in receiver.taken] == [["ops@a.test"]]
        receiver.refused = {"boss", "ops"}
        with pytest.raises(TransientError, match="no such reader"):
            mail_alerts(receiver).send(ALERT)
    with pytest.raises(TransientError, match="ConnectionRefused"):
        mail_alerts(receiver).send(ALERT)


def test_a_password_leaves_this_machine_under_tls_only(tmp_path: Path) -> None:
    away = "127.0.0.2"  # as good as another machine
    with MailReceiver(address=away) as plain, pytest.raises(TransientError, match="offers no TLS"):
        mail_alerts(plain, user="bot").send(ALERT)
    authority = make_authority(tmp_path, "mail.test")
    with MailReceiver(address=away, tls=authority.server) as receiver:
        with pytest.raises(TransientError, match="CERTIFICATE_VERIFY_FAILED"):
            mail_alerts(receiver, user="bot").send(ALERT)
        trusting = ssl.create_default_context(cafile=str(authority.pem))
        trusting.check_hostname = False
        mail_alerts(receiver, user="bot", tls=trusting).send(ALERT)
    assert plain.logins == []
    assert receiver.logins == [(True, ["bot", "secret"])]
    assert len(receiver.taken) == 1


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://localhost", MailServer("localhost", 25)),
        ("smtp://bot:s%40c@m.test", MailServer("m.test", 587, user="bot", password="s@c")),
        ("smtps://m.test:4650/", MailServer("m.test", 4650, over_tls=True)),
    ],
)
def test_mail_servers_are_named_by_addresses(url: str, server: MailServer) -> None:
    assert MailServer.of(url) == server
    assert "s@c" not in repr(server)


@pytest.mark.parametrize("url", ["", "m.test", "http://m.test", "smtp://", "smtp://m.test:x", "smtp://m.test/box"])
def test_what_names_no_mail_server_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"smtp|[Pp]ort"):
        MailServer.of(url)
