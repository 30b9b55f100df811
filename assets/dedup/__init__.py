"""Duplicates: which pages say the same thing, and which one of them stands for the others.

Tables in: ``page_state`` of the whole store, ``pages`` for the texts of candidates, ``duplicate_verdicts``. Tables
out: ``aliases``, ``exact_duplicates``, ``near_pairs``, ``near_duplicates``, ``duplicate_patterns``, ``mirrors``, each
for the asked sites.

Decides: what an exact and a near-duplicate is, what is never merged, who represents a cluster. All of it is a function
of what is stored and said, so the order in which sites are materialized does not matter. Never deletes or hides a page:
it only marks.
"""
