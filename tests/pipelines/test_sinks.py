"""Which index sinks the environment asks for."""

import pytest

from pipelines.deployments import deploy, settings_from
from resources.errors import BadSettings


def test_sinks_are_made_for_what_is_set() -> None:
    asked = {
        "ISOBATH_POSTGRES": "postgresql://isobath@127.0.0.1/docs",
        "ISOBATH_OPENSEARCH": "https://127.0.0.1:9200",
        "ISOBATH_REDIS": "redis://127.0.0.1",
        "ISOBATH_WEBHOOK": "https://example.org/feed",
        "ISOBATH_WEBHOOK_SECRET": "secret",
        "ISOBATH_KAFKA": "127.0.0.1:9092/pages",
    }
    names = [sink.name for sink in deploy(settings_from(asked)).resources["sinks"]]
    assert names == ["tantivy", "postgres", "opensearch", "redis", "webhook", "kafka"]
    assert [sink.name for sink in deploy(settings_from({})).resources["sinks"]] == ["tantivy"]


@pytest.mark.parametrize("name", ["ISOBATH_POSTGRES", "ISOBATH_OPENSEARCH", "ISOBATH_REDIS", "ISOBATH_WEBHOOK"])
def test_an_address_of_another_kind_is_refused_without_showing_it(name: str) -> None:
    with pytest.raises(BadSettings, match=f"{name} is no such address") as caught:
        settings_from({name: "gopher://user:password@host"})
    assert "password" not in str(caught.value)
