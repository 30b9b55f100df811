"""A PDF made by hand: pages of one line each, and what it says of itself."""

from collections.abc import Mapping, Sequence


def pdf(lines: Sequence[str], facts: Mapping[str, str] | None = None) -> bytes:
    """Write a PDF of ASCII lines.

    Args:
        lines: one for each page.
        facts: of its information dictionary, such as ``Title``.
    """
    count = len(lines)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, line in enumerate(lines):
        stream = f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append("<< " + " ".join(f"/{name} ({value})" for name, value in (facts or {}).items()) + " >>")
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("ascii")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>"
    return data + f"{end}\nstartxref\n{len(data)}\n%%EOF\n".encode("ascii")
