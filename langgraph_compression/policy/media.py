"""Media blocks of message content, in the forms of the common providers."""

from collections.abc import Iterator, Mapping
from typing import Any

Block = dict[str, Any]

_KINDS = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "image_file": "image",
    "image_generation_call": "image",
    "computer_screenshot": "image",
    "audio": "audio",
    "input_audio": "audio",
    "audio_url": "audio",
    "video": "video",
    "video_url": "video",
    "input_video": "video",
    "file": "file",
    "input_file": "file",
    "container_upload": "file",
    "document": "document",
    "text-plain": "document",
    "media": "media",
}
"""Block type → what it is called. OpenAI, Anthropic, Google and LangChain's own blocks."""

_UNTYPED = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "document": "document",
    "inline_data": "media",
    "inlineData": "media",
    "file_data": "file",
    "fileData": "file",
}
"""Key that holds the payload in blocks without a type (Bedrock, Google)."""

_PAYLOADS = ("base64", "data", "bytes", "file_data", "image_data", "result")
_LINKS = ("url", "image_url", "audio_url", "video_url", "uri", "file_uri", "fileUri")
_TYPES = ("mime_type", "media_type", "mimeType", "format")
_NAMES = ("filename", "file_name", "name", "title", "file_id")
_MAX_NAME = 100


def media_kind(block: Mapping[str, Any]) -> str | None:
    """image, audio, video, file, document or media; None for a block that is none of these.

    Documents whose source is text are text, not media.

    >>> media_kind({"type": "image_url", "image_url": {"url": "https://example.test/a.png"}})
    'image'
    """
    kind = block.get("type")
    if kind is None:
        return next(
            (name for key, name in _UNTYPED.items() if isinstance(block.get(key), dict)), None
        )
    if not isinstance(kind, str) or kind not in _KINDS or block_text(block) is not None:
        return None
    return _KINDS[kind]


def block_text(block: Mapping[str, Any]) -> Any:
    """The text of a document block whose source is text: a string or nested blocks, else None."""
    if block.get("type") not in ("document", "file", "text-plain"):
        return None
    source = block.get("source")
    if isinstance(source, dict):
        key = {"text": "data", "content": "content"}.get(str(source.get("type")), "")
        return source.get(key) if isinstance(source.get(key), str | list) else None
    text = block.get("text")
    return text if isinstance(text, str) else None


def media_blocks(content: str | list[Any]) -> list[Block]:
    """The media blocks of a content value, also those inside tool results, in order.

    >>> media_blocks(["text", {"type": "image", "base64": "AAAA", "mime_type": "image/png"}])
    [{'type': 'image', 'base64': 'AAAA', 'mime_type': 'image/png'}]
    """
    found: list[Block] = []
    todo = list(reversed(content)) if isinstance(content, list) else []
    while todo:
        block = todo.pop()
        if not isinstance(block, dict):
            continue
        if media_kind(block):
            found.append(block)
        elif isinstance(block.get("content"), list):
            todo.extend(reversed(block["content"]))
    return found


def name_media(block: Mapping[str, Any]) -> str:
    """What stands for a media block in a text: its kind, type, size and name or link.

    >>> name_media({"type": "image", "base64": "A" * 16000, "mime_type": "image/png"})
    '[image: image/png, 12 kB]'
    """
    kind = media_kind(block) or "media"
    facts = list(_facts(block))
    payload = next((value for key, value in facts if key in _PAYLOADS and _is_payload(value)), None)
    link = next((value for key, value in facts if key in _LINKS and isinstance(value, str)), "")
    media_type = next((v for key, v in facts if key in _TYPES and isinstance(v, str)), "")
    if payload is None and link.startswith("data:"):
        payload = link
    if isinstance(payload, str) and payload.startswith("data:"):
        media_type = media_type or payload[5:_MAX_NAME].partition(";")[0].partition(",")[0]
        size = (len(payload) - payload.find(",") - 1) * 3 // 4
    elif payload is not None:
        size = len(payload) if isinstance(payload, bytes) else len(payload) * 3 // 4
    else:
        size = 0
    name = next((v for key, v in facts if key in _NAMES and isinstance(v, str) and v), "")
    if not name and not link.startswith("data:"):
        name = link
    shown = [_one_line(media_type), f"{max(1, size // 1000):,} kB" if size else "", _one_line(name)]
    listed = ", ".join(part for part in shown if part)
    return f"[{kind}: {listed}]" if listed else f"[{kind}]"


def _is_payload(value: object) -> bool:
    return isinstance(value, str | bytes) and len(value) > 0


def _facts(block: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys and values of a block and of the objects in it, three levels deep."""
    level: list[Mapping[str, Any]] = [block]
    for _ in range(3):
        for part in level:
            yield from part.items()
        level = [value for part in level for value in part.values() if isinstance(value, Mapping)]


def _one_line(text: str) -> str:
    text = "".join(char if char.isprintable() and char not in "[]" else "_" for char in text)
    return text if len(text) <= _MAX_NAME else text[:_MAX_NAME] + "…"
