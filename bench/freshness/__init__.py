"""Freshness benchmark: our recrawl policy beside others, at equal bandwidth, on worlds that are made here."""
