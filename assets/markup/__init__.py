"""Markup: what bytes from the web say before any room judges them. Part of the ground floor, pure, for hostile input.

Content codings, character encodings, HTML trees, the facts of a page's head, and the fingerprints of its text.
It decides nothing about crawling: which links count or what main text is, the rooms say.
"""
