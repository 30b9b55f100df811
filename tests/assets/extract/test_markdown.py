"""The Markdown of what pages are made of."""

import pytest

from assets.extract.extractor import ExtractDocument, extract

SENTENCE = "The tide is the rise and fall of the sea, and every harbour master keeps a table of it near the door."

CASES: dict[str, tuple[str, str]] = {
    "nested lists": (
        "<ul><li>a<ul><li>b<ol start=3><li>c<li>d</ol></ul><li>e</ul>",
        "- a\n  - b\n    3. c\n    4. d\n- e",
    ),
    "a list in a list without an item": ("<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n  - b\n- c"),
    "a list in a table, a row span, a pipe": (
        "<table><tr><th>H<th>L<tr><td rowspan=2>x<td><ul><li>one<li>two</ul><tr><td>y|z</table>",
        "| H | L |\n| --- | --- |\n| x | - one<br>- two |\n|  | y\\|z |",
    ),
    "a column span and a caption": (
        "<table><caption>Both</caption><tr><th colspan=2>A<tr><td>1<td>2</table>",
        "Both\n\n| A |  |\n| --- | --- |\n| 1 | 2 |",
    ),
    "definitions": (
        "<dl><dt>Term<dd>What it is.<dd><p>More.</p><pre>a\n  b</pre><dt><code>t</code><dd>Second</dl>",
        "Term\n: What it is.\n\n  More.\n\n  ```\n  a\n    b\n  ```\n\n`t`\n: Second",
    ),
    "code as it stands": (
        "<pre><code class=language-py><span class=linenos>1</span>def f():\n    return `x`\n\n\n    y</code></pre>",
        "```py\ndef f():\n    return `x`\n\n\n    y\n```",
    ),
    "code with fences in it": ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
    "code in an item": (
        "<ol><li><p>one</p><pre>a\n b</pre><li>two</ol>",
        "1. one\n\n   ```\n   a\n    b\n   ```\n2. two",
    ),
    "a quote with a list": ("<blockquote><p>q</p><ul><li>x</ul></blockquote>", "> q\n>\n> - x"),
    "what only looks like marks": ("<p>1. no list</p><p># no heading</p>", "1\\. no list\n\n\\# no heading"),
    "a heading under a heading mark": ("<h2>H <code>c</code><a href=#h>¶</a></h2><p>t<br>u</p>", "## H `c`\n\nt\nu"),
    "links": (
        "<p>Go there: <a href='//c.test/a b(1)'>there</a>, <a href='javascript:x()'>not</a>, <a href=../y>up</a>.</p>",
        "Go there: [there](https://c.test/a%20b%281%29), not, [up](https://e.test/y).",
    ),
}


@pytest.mark.parametrize(("html", "markdown"), CASES.values(), ids=CASES)
def test_markdown_says_what_the_page_says(html: str, markdown: str) -> None:
    filler = f"<p>{SENTENCE}</p>" * 3
    page = f"<nav>Menu</nav><main>{filler}{html}{filler}</main>"
    row = extract(ExtractDocument("https://e.test/d/p", page.encode(), None, "text/html; charset=utf-8", None))
    around = "\n\n".join([SENTENCE] * 3)
    assert row["markdown"] == f"{around}\n\n{markdown}\n\n{around}"
