"""Conformance: how much of the field's own test data we get right, with pinned floors."""
