"""The original beside the generated code, each line next to the one it comes from."""

from __future__ import annotations

from overt.rewrites.core import Origin


def beside(
    original: dict[int, str], generated: list[str], origins: list[Origin], width: int
) -> str:
    """Two columns of `width` characters in all; `original` are the user's lines by number."""
    numbers = sorted(original)
    column = max((len(t) for t in original.values()), default=0)
    column = min(column, max(20, width // 2 - 3))
    rows: list[tuple[str, str]] = []
    position = 0
    for text, origin in zip(generated, origins, strict=True):
        number = origin.line
        if number in original and position < len(numbers) and number >= numbers[position]:
            place = numbers.index(number)
            rows += [(original[n], "") for n in numbers[position:place]]
            rows.append((original[number], text))
            position = place + 1
        else:
            rows.append(("", text))
    rows += [(original[n], "") for n in numbers[position:]]
    return "".join(f"{_cut(a, column):{column}} | {b}".rstrip() + "\n" for a, b in rows)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
