"""Which script a character belongs to, told from its place in Unicode.

Most scripts have half-blocks of 128 characters to themselves, so the upper byte of a UTF-16
unit and the top bit of the lower one are enough to tell them apart.
"""

_SCRIPTS: tuple[tuple[str, str, str], ...] = (
    # script, kind of its characters, half-blocks by their first character (or ranges of them)
    ("ascii", "lower", "0000"),
    ("latin_1", "lower", "0080"),
    ("latin_extended", "lower", "0100 0180 0200 0280"),
    ("latin_vietnamese", "lower", "1E00 1E80"),
    ("combining_marks", "symbol", "0300"),
    ("greek", "alphabet", "0380 1F00 1F80"),
    ("cyrillic", "alphabet", "0400"),
    ("cyrillic_extended", "alphabet", "0480"),
    ("armenian", "alphabet", "0500"),
    ("hebrew", "alphabet", "0580"),
    ("arabic", "alphabet", "0600"),
    ("arabic_extended", "alphabet", "0680 0700-0880 FB00-FD80"),
    ("devanagari", "alphabet", "0900"),
    ("bengali", "alphabet", "0980"),
    ("gurmukhi", "alphabet", "0A00"),
    ("gujarati", "alphabet", "0A80"),
    ("oriya", "alphabet", "0B00"),
    ("tamil", "alphabet", "0B80"),
    ("telugu", "alphabet", "0C00"),
    ("kannada", "alphabet", "0C80"),
    ("malayalam", "alphabet", "0D00"),
    ("sinhala", "alphabet", "0D80"),
    ("thai", "alphabet", "0E00"),
    ("lao", "alphabet", "0E80"),
    ("tibetan", "alphabet", "0F00 0F80"),
    ("khmer", "alphabet", "1700 1780"),
    ("burmese", "alphabet", "1000"),
    ("georgian", "alphabet", "1080"),
    ("ethiopic", "alphabet", "1200-1380"),
    ("dashes_quotes", "symbol", "2000"),
    ("superscripts", "symbol", "2080"),
    ("arrows_letterlike", "symbol", "2100 2180"),
    ("mathematics", "symbol", "2200 2280"),
    ("technical", "symbol", "2300-2480"),
    ("box_drawing", "symbol", "2500"),
    ("shapes", "symbol", "2580"),
    ("pictographs", "symbol", "2600-2780"),
    ("braille_others", "symbol", "2800-2B80"),
    ("kana", "cjk", "2E00-3380"),
    ("han_extended", "cjk", "3400-4D80 F900 F980"),
    ("han", "cjk", "4E00-9F80"),
    ("hangul", "hangul", "AC00-D780"),
    ("emoji", "emoji", "D800-DB80"),
    ("emoji_second_unit", "emoji", "DC00-DF80"),
    ("private_use", "symbol", "E000-F880"),
    ("variation_selectors", "symbol", "FE00 FE80"),
    ("full_width", "cjk", "FF00 FF80"),
    ("other_script", "alphabet", ""),
)

SCRIPT_KINDS = {name: kind for name, kind, _ in _SCRIPTS}
"""Script → kind of its characters, see `characters.KINDS`; the order gives the codes."""

UNCOUNTED = ("ascii", "emoji_second_unit")
"""ASCII is counted by character; an emoji's second unit says nothing new."""

LANGUAGES: dict[str, tuple[str, str]] = {
    "cyrillic_not_russian": ("cyrillic", "іїєўјљњћђџѓќѕІЇЄЎЈъЪ"),
    "devanagari_conjunct": ("devanagari", "\N{DEVANAGARI SIGN VIRAMA}"),
}
"""Feature → script, and characters that tell well-known languages of it from others: Russian has
tokens for more of its words than Ukrainian or Bulgarian, Hindi for more than Sanskrit."""


def _codes() -> tuple[bytes, bytes]:
    names = list(SCRIPT_KINDS)
    tables = [bytearray([names.index("other_script")] * 256) for _ in range(2)]
    for name, _, places in _SCRIPTS:
        for place in places.split():
            first, _, last = place.partition("-")
            for start in range(int(first, 16), int(last or first, 16) + 1, 0x80):
                tables[start >> 7 & 1][start >> 8] = names.index(name)
    return bytes(tables[0]), bytes(tables[1])


SCRIPT_OF_HALF_BLOCK = _codes()
"""Code of the script by upper byte: for the lower and for the upper half of each block."""
