"""Addresses: parsing, hosts, sameness, scope, suffixes. Ground floor, usable by all rooms; knows no room and no table.

``url`` is what is requested (``parse``); ``url_key`` decides whether two addresses are one page (``key``); the host
key is the unit of politeness (``host``); the registrable domain is the unit of scope (``host``, ``scope``).
"""
