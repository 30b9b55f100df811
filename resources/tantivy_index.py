"""The embedded full-text index: an index sink and a search index in a local folder, by tantivy.

One process at a time writes, any number read. The feed cursor of a site is a document of the index itself, so a batch
and the news that it was applied are one commit.
"""

import fcntl
import html
import logging
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import tantivy

from resources.batch_order import not_yet_applied
from resources.errors import StoreBusy
from resources.ports import FeedBatch, IndexDocument, SearchFilter, SearchHit
from resources.ports.sinks import EVERYTHING

_log = logging.getLogger(__name__)

# Part of the folder's name: an index of other fields or tokens is never opened, but filled again from the feed.
_LAYOUT: Final = "layout-2"
_WORDS: Final = "isobath_words"
_WRITER_BYTES: Final = 64 * 1024 * 1024
_LONGEST_TOKEN_BYTES: Final = 200
_BOOSTS: Final = {"title": 4.0, "headings": 2.0, "anchors": 2.0, "text": 1.0}

# Scripts without spaces give a token a character, so that any word in them is a phrase. The long vowel mark and the
# iteration mark belong to them though Unicode gives the former to no script.
_SPACELESS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
_TOKEN: Final = rf"[{_SPACELESS}]|[[\p{{L}}\p{{M}}\p{{N}}_]--[{_SPACELESS}]]+"

_MOST_QUERY_CHARACTERS: Final = 1_000
_MOST_CLAUSES: Final = 50
_CLAUSE: Final = re.compile(r'(?P<no>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
_SNIPPET_CHARACTERS: Final = 240


class TantivyIndex:
    """A full-text index in a folder, as the ``IndexSink`` and ``SearchIndex`` ports."""

    name = "tantivy"

    def __init__(self, folder: Path, *, lock_timeout_s: float = 60.0) -> None:
        self._folder = folder
        self._path = folder / _LAYOUT
        self._lock_timeout_s = lock_timeout_s
        self._analyzer = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_TOKEN))
            .filter(tantivy.Filter.remove_long(_LONGEST_TOKEN_BYTES))
            .filter(tantivy.Filter.lowercase())
            .filter(tantivy.Filter.ascii_fold())
            .build()
        )
        self._schema = _schema()

    def cursor(self, site: str) -> int:
        """Give the number of the last batch applied for a site; 0 when none was."""
        index = self._open()
        return 0 if index is None else _cursor(index.searcher(), self._schema, site)

    def apply(self, batches: Sequence[FeedBatch]) -> None:
        """Apply batches of one site, in order, in one commit; a batch at or below the cursor is passed over.

        Raises:
            PermanentError: a batch is missing between the cursor and the first one given.
            StoreBusy: another process kept writing.
        """
        site = batches[0].site if batches else ""
        if not batches or batches[-1].sequence <= self.cursor(site):
            return
        with self._writing() as index:
            cursor = _cursor(index.searcher(), self._schema, site)
            writer = index.writer(_WRITER_BYTES, 1)
            try:
                for batch in not_yet_applied(batches, cursor, str(self._path)):
                    self._write(writer, batch)
                    cursor = batch.sequence
                writer.delete_documents_by_term("document_id", _cursor_id(site))
                writer.add_document(tantivy.Document(document_id=[_cursor_id(site)], cursor=[cursor]))
                writer.commit()
            except BaseException:
                writer.rollback()
                raise
            finally:
                writer.wait_merging_threads()

    def search(
        self, words: str, *, limit: int = 10, offset: int = 0, only: SearchFilter = EVERYTHING
    ) -> list[SearchHit]:
        """Give the best hits first: pages with all the words, else with some of them. No index yet gives no hits.

        ``"a phrase"`` must stand as it is, ``-word`` must not occur; nothing else in ``words`` has a meaning.
        """
        index = self._open()
        if index is None or limit < 1:
            return []
        searcher = index.searcher()
        for all_words in (True, False):
            query = self._query(words, only, all_words=all_words)
            if query is None:
                return []
            # The first hit decides which of the two questions is answered, on whatever page.
            if offset and not searcher.search(query, 1, count=False).hits:
                continue
            hits = searcher.search(query, limit, count=False, offset=max(0, offset)).hits
            if hits or offset:
                snippets = tantivy.SnippetGenerator.create(searcher, query, self._schema, "text")
                snippets.set_max_num_chars(_SNIPPET_CHARACTERS)
                return [_hit(score, searcher.doc(address), snippets) for score, address in hits]
        return []

    def _write(self, writer: tantivy.IndexWriter, batch: FeedBatch) -> None:
        for document_id in batch.tombstones:
            writer.delete_documents_by_term("document_id", document_id)
        for document in batch.upserts:
            writer.delete_documents_by_term("document_id", document.document_id)
            writer.add_document(_document(document))

    def _query(self, words: str, only: SearchFilter, *, all_words: bool) -> tantivy.Query | None:
        """Build a query from what a person typed; None when it asks for nothing.

        Not tantivy's query parser: deep nesting such as 3,000 opening brackets overflows its stack and kills the
        process, and its field syntax would let people ask for our own fields.
        """
        text = words[:_MOST_QUERY_CHARACTERS].encode("utf-8", "replace").decode()
        need = tantivy.Occur.Must if all_words else tantivy.Occur.Should
        asked: list[tuple[tantivy.Occur, tantivy.Query]] = []
        refused: list[tuple[tantivy.Occur, tantivy.Query]] = []
        for clause in list(_CLAUSE.finditer(text))[:_MOST_CLAUSES]:
            phrase = clause["phrase"]
            tokens = self._analyzer.analyze(clause["word"] if phrase is None else phrase)
            if not tokens:
                continue
            if clause["no"]:
                refused.append((tantivy.Occur.MustNot, self._phrase(tokens)))
            elif all_words or phrase is not None or len(tokens) <= 2:
                asked.append((need, self._phrase(tokens)))
            else:  # a sentence of a script without spaces: any two neighbours that stand together help
                pairs = [tokens[start : start + 2] for start in range(len(tokens) - 1)]
                asked += [(need, self._phrase(pair)) for pair in pairs]
        if not asked:
            return None
        query = tantivy.Query.boolean_query(asked)
        filters = [(tantivy.Occur.Must, tantivy.Query.const_score_query(one, 0.0)) for one in self._filters(only)]
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *refused, *filters])

    def _filters(self, only: SearchFilter) -> Iterator[tantivy.Query]:
        if only.site is not None:
            yield tantivy.Query.term_query(self._schema, "site", only.site)
        if only.language is not None:
            yield tantivy.Query.term_query(self._schema, "language", _language_terms(only.language)[0])
        if only.after is not None:
            day = _day_number(only.after.isoformat())
            yield tantivy.Query.range_query(self._schema, "day", tantivy.FieldType.Integer, lower_bound=day)

    def _phrase(self, tokens: list[str]) -> tantivy.Query:
        """Ask for tokens in a row, in any field."""
        fields: list[tuple[tantivy.Occur, tantivy.Query]] = []
        for name, boost in _BOOSTS.items():
            if len(tokens) == 1:
                query = tantivy.Query.term_query(self._schema, name, tokens[0])
            else:
                query = tantivy.Query.phrase_query(self._schema, name, list(tokens))
            fields.append((tantivy.Occur.Should, tantivy.Query.boost_query(query, boost)))
        return tantivy.Query.boolean_query(fields)

    def _open(self) -> tantivy.Index | None:
        """Open the index as it is now; None when there is none."""
        if not self._path.is_dir() or not tantivy.Index.exists(str(self._path)):
            return None
        index = tantivy.Index.open(str(self._path))
        index.register_tokenizer(_WORDS, self._analyzer)
        return index

    @contextmanager
    def _writing(self) -> Iterator[tantivy.Index]:
        """Hold the index alone, making it first if need be."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "writer.lock").open("w") as lock:
            deadline_s = time.monotonic() + self._lock_timeout_s
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as error:
                    if time.monotonic() >= deadline_s:
                        raise StoreBusy(
                            f"another process wrote to {self._folder} for over {self._lock_timeout_s} s"
                        ) from error
                    time.sleep(0.02)
            for other in self._folder.glob("layout-*"):
                if other != self._path:
                    _log.info("removing %s: its layout is not %s", other, _LAYOUT)
                    shutil.rmtree(other)
            self._path.mkdir(exist_ok=True)
            index = tantivy.Index(self._schema, path=str(self._path))
            index.register_tokenizer(_WORDS, self._analyzer)
            yield index


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("document_id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("site", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("language", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", stored=True, tokenizer_name=_WORDS)
    builder.add_text_field("headings", tokenizer_name=_WORDS)
    builder.add_text_field("anchors", tokenizer_name=_WORDS)
    builder.add_text_field("text", stored=True, tokenizer_name=_WORDS)
    builder.add_integer_field("day", stored=True, fast=True)
    builder.add_unsigned_field("cursor", stored=True)
    return builder.build()


def _document(document: IndexDocument) -> tantivy.Document:
    return tantivy.Document(
        document_id=[document.document_id],
        site=[document.site],
        language=_language_terms(document.language),
        url=[document.url],
        title=[document.title],
        headings=list(document.headings),
        anchors=list(document.anchor_texts),
        text=[document.text],
        day=[_day_number(document.modified_on or document.published_on or document.fetched_at[:10])],
    )


def _language_terms(tag: str) -> list[str]:
    """Give a language tag and its first part, so that both find it.

    >>> _language_terms("pt-BR")
    ['pt-br', 'pt']
    """
    whole = tag.lower().replace("_", "-")
    return list(dict.fromkeys([whole, whole.partition("-")[0]]))


def _day_number(iso_date: str) -> int:
    """Give a date as a number that grows with it; 0 for what is no date.

    >>> _day_number("2026-03-01"), _day_number("")
    (20260301, 0)
    """
    digits = iso_date[:10].replace("-", "")
    return int(digits) if re.fullmatch("[0-9]{8}", digits) else 0


def _cursor_id(site: str) -> str:
    """Name the document that holds a site's cursor; no id of a page looks like it."""
    return f"cursor of {site}"


def _cursor(searcher: tantivy.Searcher, schema: tantivy.Schema, site: str) -> int:
    query = tantivy.Query.term_query(schema, "document_id", _cursor_id(site), "basic")
    hits = searcher.search(query, 1, count=False).hits
    return int(searcher.doc(hits[0][1])["cursor"][0]) if hits else 0


def _hit(score: float, document: tantivy.Document, snippets: tantivy.SnippetGenerator) -> SearchHit:
    marked = snippets.snippet_from_doc(document).to_html()
    if not marked:  # the words stand in the title or a heading only
        marked = html.escape(str(document.get_first("text"))[:_SNIPPET_CHARACTERS])
    return SearchHit(
        site=str(document.get_first("site")),
        url=str(document.get_first("url")),
        title=str(document.get_first("title")),
        score=float(score),
        snippet_html=marked.replace("</b><b>", ""),  # a word of one-character tokens is one mark
        language=str(document.get_first("language")),
        day=re.sub(r"(....)(..)(..)", r"\1-\2-\3", str(document.get_first("day"))),
    )
