"""Killed crawls: real crawls ended by ``kill -9`` at random moments, carried on, and then looked at with other tools.

``lives`` starts and kills, ``checks`` looks at what is left, ``stores`` reads a store without our own code.
"""
