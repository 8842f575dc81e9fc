"""Builds requests for both clients."""

from __future__ import annotations

import base64
import os
import re
from typing import Any, BinaryIO, Dict, List, Mapping, Optional, Tuple, Union
from urllib.parse import parse_qsl, quote, urlsplit

import httpx

PathOrFile = Union[str, "os.PathLike[str]", BinaryIO]

TUS = {"tus-resumable": "1.0.0"}
PIECE_BYTES = 16 * 1024 * 1024
JSON = "application/json, application/problem+json"
ANY = "*/*, application/problem+json"


def credentials(
    key: Optional[str], token: Optional[str], basic: Optional[Tuple[str, str]]
) -> Dict[str, str]:
    """The Authorization or API key header."""
    if key is not None:
        return {"x-api-key": key}
    if token is not None:
        return {"authorization": f"Bearer {token}"}
    if basic is not None:
        return {"authorization": "Basic " + base64.b64encode(":".join(basic).encode()).decode()}
    return {}


def filled(path: str, values: Mapping[str, Any]) -> str:
    """Fills in the parameters of a path. ValueError for a value that would make it the path of another operation."""

    def fill(found: "re.Match[str]") -> str:
        value = values[found.group(1)]
        text = "" if value is None else str(value)
        if text in ("", ".", ".."):
            raise ValueError(f"The path {path} needs {found.group(1)}")
        return quote(text, safe="")

    return re.sub(r"\{(\w+)\}", fill, path)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def pairs(query: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """Query parameters; lists are repeated, None is omitted."""
    return [
        (name, _text(each))
        for name, value in query.items()
        for each in (value if isinstance(value, (list, tuple)) else [value])
        if each is not None
    ]


def sent(body: Any, media_type: str) -> Dict[str, Any]:
    """The body as httpx arguments."""
    if body is None:
        return {}
    if media_type == "multipart/form-data":
        texts = {name: part for name, part in body.items() if isinstance(part, str)}
        files = [(name, part) for name, part in body.items() if not isinstance(part, str)]
        return {"data": texts, "files": files or [(name, (None, text)) for name, text in texts.items()]}
    if media_type == "application/json":
        return {"json": body}
    return {"content": body, "headers": {"content-type": media_type}}


def next_query(response: httpx.Response, answer: Any) -> Optional[Dict[str, Any]]:
    """The query of the next page, from the URL in the Link header or the body."""
    linked = re.search(r'<([^<>]+)>; ?rel="?next"?', response.headers.get("link", ""))
    address = linked.group(1) if linked else answer.get("next") if isinstance(answer, dict) else None
    if not isinstance(address, str):
        return None
    query: Dict[str, Any] = {}
    for name, value in parse_qsl(urlsplit(address).query, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    return query


def upload_metadata(members: Mapping[str, Any]) -> str:
    """The Upload-Metadata header of the tus protocol."""
    return ",".join(
        f"{name} {base64.b64encode(_text(value).encode()).decode()}" for name, value in members.items() if value is not None
    )


class Messages:
    """Parses server-sent events line by line."""

    def __init__(self) -> None:
        self.last_id: Optional[str] = None
        self.retry_seconds = 2.0
        self._id: Optional[str] = None
        self._data: List[str] = []

    def feed(self, line: str) -> Optional[str]:
        """Returns the data of a message if the line ends one with data."""
        if line == "":
            data, self._data = "\n".join(self._data), []
            self.last_id = self._id
            return data or None
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "id":
            self._id = value
        elif field == "retry" and value.isdigit():
            self.retry_seconds = int(value) / 1000
        elif field == "data":
            self._data.append(value)
        return None

    def reconnected(self) -> None:
        """Discards an incomplete message."""
        self._id, self._data = self.last_id, []


def frame_of_datapoints(datapoints: List[Any]) -> Any:
    """One row per datapoint, one column per property."""
    import pandas  # type: ignore[import-untyped]

    rows = []
    for each in datapoints:
        longitude, latitude = (list(each["geometry"].get("coordinates") or []) + [None, None])[:2]
        times = {name: pandas.to_datetime(each[name]) for name in ("start_time", "end_time")}
        place = {"longitude": longitude, "latitude": latitude}
        rows.append({"id": each["id"], **times, **place, **each["properties"]})
    return pandas.DataFrame(rows)
