"""The asyncio client. The synchronous client is generated from this file."""

from __future__ import annotations

import asyncio
import io
import json
import os
from typing import TYPE_CHECKING, Any, AsyncIterator, BinaryIO, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import httpx

from . import _requests
from ._problem import PounceProblem, problem_of, unreachable
from ._requests import PathOrFile
from .models import CloudEvent

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


class AsyncConnection:
    """Sends requests with the server URL and credentials; raises error responses as PounceProblem."""

    def __init__(self, url: str, headers: Mapping[str, str], http: httpx.AsyncClient) -> None:
        self._base = url[:-1] if url.endswith("/") else url
        self._headers = headers
        self.http = http

    def request(self, method: str, path: str, **parts: Any) -> httpx.Request:
        """A request to a path below the server URL."""
        headers = {"accept": _requests.JSON, **self._headers, **parts.pop("headers", {})}
        return self.http.build_request(method, f"{self._base}{path}", headers=headers, **parts)

    async def send(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        """Raises PounceProblem for an error response or if the server is unreachable."""
        try:
            response = await self.http.send(request, stream=stream)
            for _ in range(5):
                if response.next_request is None or request.method not in ("GET", "HEAD"):
                    break
                await response.aclose()
                response = await self.http.send(self._redirected(request, response.next_request), stream=stream)
            if not response.is_success:
                await response.aread()
        except httpx.HTTPError as error:
            raise unreachable(f"{request.method} {request.url.path}", error) from error
        if not response.is_success:
            raise problem_of(response)
        return response

    def _redirected(self, request: httpx.Request, following: httpx.Request) -> httpx.Request:
        # Downloads may redirect to another server, such as an object store, which must not receive the API key.
        before, after = request.url, following.url
        is_downgraded = before.scheme == "https" and after.scheme != "https"
        if after.host != before.host or after.port != before.port or is_downgraded:
            for name in self._headers:
                following.headers.pop(name, None)
        return following

    async def call(
        self, method: str, path: str, answer: str, values: Mapping[str, Any], query: Mapping[str, Any], body: Any = None, media_type: str = ""
    ) -> Tuple[Any, httpx.Response]:
        """Calls an operation; returns the parsed body and the response."""
        parts = _requests.sent(body, media_type)
        headers = {**parts.pop("headers", {}), **({"accept": _requests.ANY} if answer == "bytes" else {})}
        request = self.request(method, _requests.filled(path, values), params=_requests.pairs(query), headers=headers, **parts)
        response = await self.send(request)
        if answer == "bytes":
            return response, response
        if not response.content:
            return None, response
        return json.loads(response.content) if answer == "json" else response.text, response

    async def items(
        self, path: str, member: str, values: Mapping[str, Any], query: Mapping[str, Any]
    ) -> AsyncIterator[Any]:
        """The items of all pages of a list."""
        size = "size" if member == "results" else "limit"
        following: Optional[Dict[str, Any]] = {**query, size: 100 if query.get(size) is None else query[size]}
        while following is not None:
            answer, response = await self.call("GET", path, "json", values, following)
            for item in answer[member] if member else answer:
                yield item
            following = _requests.next_query(response, answer)


class AsyncPounceBase:
    """Uploads, downloads, events and tables."""

    def __init__(
        self,
        url: str,
        *,
        key: Optional[str] = None,
        token: Optional[str] = None,
        basic: Optional[Tuple[str, str]] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = 120.0,
        http: Optional[httpx.AsyncClient] = None,
    ) -> None:
        """``url`` may include a base path. ``http`` replaces the httpx client, which is closed together with this one."""
        sent = {**(headers or {}), **_requests.credentials(key, token, basic)}
        self._connection = AsyncConnection(url, sent, http or httpx.AsyncClient(timeout=timeout))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._connection.http.aclose()

    async def upload(
        self,
        file: PathOrFile,
        *,
        dataset: Optional[str] = None,
        folder: Optional[str] = None,
        filename: Optional[str] = None,
        path: Optional[str] = None,
        media_type: Optional[str] = None,
        extract: Optional[bool] = None,
        sha256: Optional[str] = None,
        resume: Optional[str] = None,
        on_start: Optional[Callable[[str], None]] = None,
        on_progress: Optional[Callable[[int, int], None]] = None,
        piece_bytes: int = _requests.PIECE_BYTES,
        retries: int = 5,
    ) -> str:
        """
        Uploads a file of any size with the tus protocol and resumes after interruptions. Returns the id of the file.

        ``path`` is relative to the dataset or folder and includes the name; missing folders are created. Store the id from ``on_start``
        to ``resume`` after a crash. ``on_progress`` is called with the number of durable bytes and the total.
        """
        opened = open(file, "rb") if isinstance(file, (str, os.PathLike)) else None
        source: BinaryIO = opened or file  # type: ignore[assignment]
        try:
            length = source.seek(0, io.SEEK_END)
            upload = resume
            if upload is None:
                name = filename or os.path.basename(str(getattr(source, "name", "")))
                about = {"filetype": media_type, "dataset": dataset, "folder": folder, "sha256": sha256, "extract": extract}
                named = {"path": path} if path else {"filename": name}
                upload = await self._begin_upload(length, _requests.upload_metadata({**named, **about}))
                if on_start:
                    on_start(upload)
            offset = 0 if resume is None else await self._received(upload, length)
            failed = 0
            while offset < length:
                if on_progress:
                    on_progress(offset, length)
                source.seek(offset)
                piece = source.read(min(piece_bytes, length - offset))
                if not piece:
                    raise EOFError(f"The file ended at {offset} of {length} bytes: it was changed during the upload")
                try:
                    offset, failed = await self._append(upload, offset, piece), 0
                except PounceProblem as problem:
                    if not problem.is_passing or failed >= retries:
                        raise
                    await asyncio.sleep(problem.retry_after_seconds or 0.5 * 2**failed)
                    failed += 1
                    known = await self._received_if_reachable(upload, length, offset)
                    offset, failed = known, 0 if known > offset else failed
            if on_progress:
                on_progress(length, length)
            return upload
        finally:
            if opened:
                opened.close()

    async def _begin_upload(self, length: int, metadata: str) -> str:
        headers = {**_requests.TUS, "upload-length": str(length), "upload-metadata": metadata}
        response = await self._connection.send(self._connection.request("POST", "/api/uploads", headers=headers))
        return str(response.headers["location"]).rsplit("/", 1)[-1]

    async def _append(self, upload: str, offset: int, piece: bytes) -> int:
        about = {"content-type": "application/offset+octet-stream", "upload-offset": str(offset)}
        headers = {**_requests.TUS, **about}
        request = self._connection.request("PATCH", f"/api/uploads/{upload}", headers=headers, content=piece)
        return int((await self._connection.send(request)).headers["upload-offset"])

    async def _received(self, upload: str, length: int) -> int:
        request = self._connection.request("HEAD", f"/api/uploads/{upload}", headers=_requests.TUS)
        headers = (await self._connection.send(request)).headers
        begun = int(headers.get("upload-length", length))
        if begun != length:
            raise ValueError(f"The upload to resume is of a file with {begun} bytes; this one has {length}")
        return int(headers["upload-offset"])

    async def _received_if_reachable(self, upload: str, length: int, otherwise: int) -> int:
        try:
            return await self._received(upload, length)
        except PounceProblem as problem:
            if not problem.is_passing:
                raise
            return otherwise

    async def download(self, file: str, target: PathOrFile) -> int:
        """Streams a file to a path or an open file. Returns the number of bytes."""
        request = self._connection.request("GET", f"/api/files/{file}", headers={"accept": _requests.ANY})
        response = await self._connection.send(request, stream=True)
        opened = open(target, "wb") if isinstance(target, (str, os.PathLike)) else None
        sink: BinaryIO = opened or target  # type: ignore[assignment]
        count = 0
        try:
            async for piece in response.aiter_bytes():
                count += sink.write(piece)
        except httpx.HTTPError as error:
            raise unreachable(f"GET /api/files/{file}", error) from error
        finally:
            await response.aclose()
            if opened:
                opened.close()
        return count

    async def events(
        self,
        *,
        kind: Sequence[str] = (),
        id: Sequence[str] = (),
        space: Sequence[str] = (),
        type: Sequence[str] = (),
        mine: Optional[bool] = None,
        since: Optional[str] = None,
        on_open: Optional[Callable[[], None]] = None,
    ) -> AsyncIterator[CloudEvent]:
        """
        Live events, until the credential is no longer valid. Reconnects automatically and then receives missed events.

        Multiple values of a filter are alternatives. ``since`` is a time (ISO 8601) or an event id. ``on_open`` is called after every (re)connect.
        """
        query = _requests.pairs({"kind": kind, "id": id, "space": space, "type": type, "mine": mine, "since": since})
        messages = _requests.Messages()
        failed = 0
        while True:
            headers = {"accept": "text/event-stream, application/problem+json"}
            if messages.last_id is not None:
                headers["last-event-id"] = messages.last_id
            # Heartbeats are more frequent.
            timeout = httpx.Timeout(30.0, read=120.0)
            request = self._connection.request("GET", "/api/live", params=query, headers=headers, timeout=timeout)
            try:
                response = await self._connection.send(request, stream=True)
                failed = 0
                messages.reconnected()
                if on_open:
                    on_open()
                try:
                    async for line in response.aiter_lines():
                        data = messages.feed(line)
                        if data is None:
                            continue
                        event: CloudEvent = json.loads(data)
                        yield event
                        if event["type"] == "stream.closed" and event["data"].get("reason") != "shutdown":
                            return
                finally:
                    await response.aclose()
            except httpx.HTTPError:
                # Connection lost; continue with the next one.
                failed += 1
            except PounceProblem as problem:
                if not problem.is_passing:
                    raise
                failed += 1
            await asyncio.sleep(min(messages.retry_seconds * 2 ** min(failed, 5), 60.0))

    async def read_csv(self, file: str, **options: Any) -> pandas.DataFrame:
        """A CSV file as a DataFrame; options are passed to ``pandas.read_csv``. Requires the extra ``pandas``."""
        import pandas

        buffer = io.BytesIO()
        await self.download(file, buffer)
        buffer.seek(0)
        frame: pandas.DataFrame = pandas.read_csv(buffer, **options)
        return frame

    async def read_datapoints(
        self, *, stream: Optional[str] = None, sensor: Optional[str] = None, since: Optional[str] = None, until: Optional[str] = None
    ) -> pandas.DataFrame:
        """Datapoints of a stream or sensor as a DataFrame: times, location, and one column per property. Requires the extra ``pandas``."""
        query = {"stream_id": stream, "sensor_id": sensor, "since": since, "until": until, "limit": 1000}
        rows: List[Any] = []
        async for datapoint in self._connection.items("/api/geostreams/datapoints", "", {}, query):
            rows.append(datapoint)
        frame: pandas.DataFrame = _requests.frame_of_datapoints(rows)
        return frame
