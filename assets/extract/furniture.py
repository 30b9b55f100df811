"""The vocabulary of furniture: what the names (id, class, role) of elements say of what they hold."""

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final

# Source of the vocabularies: trafilatura's, which are measured on many sites; those of single sites are left out.
_TEXT_NAMES: Final = (
    r"itemprop:articleBody|(?:id|class):(?:\S*[ ])*(?:post|entry|articleContent)$"
    r"|(?:entry|article|art|page|text)-content|article__content|article(?:-|__)?body|articlebody|body-text"
    r"|post[-_]text|post-body|post-?entry|post[-_]?content|postcontent|post_inner_wrapper|article-?text"
    r"|article__container"
)
_STORY_NAMES: Final = (
    r"role:article|id:(?:article|story|primary\S*)|story-?(?:body|content)|fulltext|post-bodycopy"
    r"|(?:theme|blog|section|single)-content|single-post|main-column|wpb_text_column|field-body|class:article "
)
_CONTENT_NAMES: Final = (
    r"id:content|class:content$|content[-_](?:main|body)|content__body|contentbody|main-?content|page-content"
)
_MAIN_NAMES: Final = r"(?:id|class|role):main"


class Place(IntEnum):
    """What part of a page an element's name promises; the lower, the nearer to the text."""

    TEXT = 0
    ARTICLE = 1
    STORY = 2
    CONTENT = 3
    MAIN = 4


_PLACES: Final = tuple(
    (place, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for place, pattern in (
        (Place.TEXT, _TEXT_NAMES),
        (Place.STORY, _STORY_NAMES),
        (Place.CONTENT, _CONTENT_NAMES),
        (Place.MAIN, _MAIN_NAMES),
    )
)
_PLACE_TAGS: Final = frozenset({"article", "div", "main", "section"})
_FURNITURE: Final = re.compile(
    # Either attribute.
    r"(?:id|class):shar|social|viral|newsletter|syndication|cookie|tags|sidebar|banner|bread-?crumb|button|author"
    r"|footer|id:\S*(?:share|menu|nav|related|premium)|id:ad-|message-container"
    # Classes.
    r"|class:(?:nav|post-nav)|subnav|avigation|navbar|navbox|menu|class:.*bar|[ ]ad[ ]|-ad-|[ :]ad-|dfpad|outbrain"
    r"|taboola|criteo|paid-?content|widget|byline|share-|sociable|embed|tag-list|consent|modal-content|permission"
    r"|elated|next-|-stories|most-popular|more-on|class:.*(?:meta|rating|attachment|timestamp|user-info|user-profile"
    r"|-icon|article-infos|slide|viewport|overlay|options|expand|obfuscated|blurred)"
    r"|role:.*navigation|teaser|(?:id|class):.*caption"
    # What stands between and behind paragraphs: more to read, ways to pay, credits, posts of others.
    r"|class:.*(?:read-?(?:more|also)|also-read|more-(?:link|stories)|advert|promo|paywall|copyright|tweet|instagram"
    r"|credits?(?:$|[ _-])|subscri|sign-?up|disclaimer|disclosure|next-?stor(?:y|ies)"
    r"|inline-?link|recommend|trending|popular|side-)"
    r"|id:.*(?:subcontent|advert|promo|paywall|copyright|recommend)|class:.*right-(?:block|column|col$)",
    re.IGNORECASE,
)
_FURNITURE_TAGS: Final = frozenset({"div", "li", "ul", "ol", "dl", "p", "section", "span"})
# The ids of others are anchors, which say what is written there and not what it is for.
_NAMED_BY_ID: Final = frozenset({"div", "ul", "ol", "dl", "details", "table", "li", "p", "span"})
_HIDDEN: Final = re.compile(
    r"comments-title|(?:id|class):reply-|id:.*hidden|reader-comments|akismet|class:hide-|nocomments|-reply-"
    r"|class:.*message|suggest-links|-hide-|hide-print|class:.*[ ]hidden|class:.*[ ]hide|noprint|notloaded"
)
_COMMENTS: Final = re.compile(
    r"id:(?:[Cc]omment(?!ary)|comol|disqus_thread|dsq-comments)|class:(?:[Cc]omment(?!ary)|(?:article|post)-comments)"
)
_COMMENT_TAGS: Final = frozenset({"div", "ul", "ol", "section", "details"})


class Verdict(IntEnum):
    """What an element's name says of it."""

    NOTHING = 0
    FURNITURE = 1  # by its name, which may be wrong: undone when little else is left
    COMMENTS = 2  # of readers


@lru_cache(maxsize=20_000)
def place_of(tag: str, name: str) -> Place | None:
    """Say which part of a page an element promises to be; None for none.

    Args:
        name: id, class, role and itemprop, a line each.
    """
    if tag not in _PLACE_TAGS:
        return None
    labelled = _labelled(name)
    for place, pattern in _PLACES:
        if place > Place.ARTICLE and tag == "article":
            break
        if pattern.search(labelled):
            return place
    if tag == "article":
        return Place.ARTICLE
    return Place.MAIN if tag == "main" else None


@lru_cache(maxsize=20_000)
def verdict_of(tag: str, name: str) -> Verdict:
    """Say what an element's name says of it."""
    labelled = _labelled(name if tag in _NAMED_BY_ID else "\n" + name.partition("\n")[2])
    if tag in _COMMENT_TAGS and _COMMENTS.search(labelled):
        return Verdict.COMMENTS
    if (tag in _FURNITURE_TAGS and _FURNITURE.search(labelled)) or _HIDDEN.search(labelled):
        return Verdict.FURNITURE
    return Verdict.NOTHING


def _labelled(name: str) -> str:
    lines = zip(("id:", "class:", "role:", "itemprop:"), name.split("\n"), strict=False)
    return "\n".join(label + line for label, line in lines if line)
