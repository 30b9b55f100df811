"""Recrawl benchmark, end to end: a site whose pages change, the real sensor and runs, and a clock that is turned."""
