"""Path suffixes of what is not a page. Unknown suffixes are pages: ``/3.11``, ``/v1.2`` and ``/ASP.Net`` are names."""

from typing import Final

from assets.url.parse import parse, split_web_address

_COMPRESSION_WORDS: Final = "br bz2 gz lz lzma xz z zst"
_PAGE_WORDS: Final = "asp aspx cgi htm html jsp jspx php phtml shtml xhtml"
_MEDIA_WORDS: Final = """
    avif bmp cur eps gif heic heif ico jfif jpe jpeg jpg png psd svg svgz tif tiff webp wmf
    aac aif aiff flac m4a mid midi mp3 oga ogg opus wav wma
    3gp asf avi flv m3u8 m4v mkv mov mp4 mpeg mpg ogv swf vob webm wmv
"""
_FILE_WORDS: Final = """
    doc docm docx dot dotx epub mobi odg odp ods odt pdf pps ppsx ppt pptm pptx ps rtf xls xlsb xlsm xlsx
    7z apk bin cab crx deb dmg egg exe img ipa iso jar msi pkg rar rpm tar tbz tgz txz war whl xpi zip
    atom csv ics json jsonl map parquet rss sqlite tsv vcf wasm
    css eot js mjs otf ttf woff woff2
"""
_COMPRESSIONS: Final = frozenset(_COMPRESSION_WORDS.split())
_PAGES: Final = frozenset(_PAGE_WORDS.split())
RESOURCE_SUFFIXES: Final = _COMPRESSIONS | frozenset(_MEDIA_WORDS.split()) | frozenset(_FILE_WORDS.split())


def resource_suffix(url: str) -> str:
    """Give the suffix that says that an address is no page, in lower case with its dot; empty for what may be a page.

    >>> resource_suffix("https://e.test/a/manual.PDF?v=2"), resource_suffix("https://e.test/3.11")
    ('.pdf', '')
    """
    href = parse(url)
    parts = split_web_address(href) if href else None
    if parts is None:
        return ""
    name = parts[2].partition("?")[0].rpartition("/")[2].partition(";")[0].lower()
    stem, dot, suffix = name.rpartition(".")
    # A colon marks a wiki page about a file: /wiki/File:Map.jpg.
    if not dot or suffix not in RESOURCE_SUFFIXES or ":" in stem:
        return ""
    if suffix in _COMPRESSIONS and stem.rpartition(".")[2] in _PAGES and "." in stem:
        return ""
    return f".{suffix}"
