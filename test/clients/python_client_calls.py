"""What both Python clients do with a server, printed as JSON. Connections break within httpx, as those of a network do."""

import asyncio
import hashlib
import io
import json
import os
import sys
from typing import Any, AsyncIterator, Dict, Iterator, List

import httpx

from pounce_client import AsyncPounce, Pounce, PounceProblem

URL, KEY = sys.argv[1], sys.argv[2]
DATA = os.urandom(3 * 1024 * 1024)
PIECE = 1024 * 1024
HASH = hashlib.sha256(DATA).hexdigest()


class Shortened(io.BytesIO):
    """A file of which only the first piece is left when it is read."""

    def read(self, size: Any = -1) -> bytes:
        return super().read(size) if self.tell() == 0 else b""


class HalfSent(httpx.SyncByteStream):
    def __init__(self, body: bytes) -> None:
        self.body = body

    def __iter__(self) -> Iterator[bytes]:
        yield self.body[: len(self.body) // 2]
        raise httpx.WriteError("the network broke")


class Breaking(httpx.HTTPTransport):
    """Breaks the second piece in its middle."""

    pieces = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PATCH":
            self.pieces += 1
            if self.pieces == 2:
                request.stream = HalfSent(request.read())
        return super().handle_request(request)


class CutInEvent(httpx.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self.stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self.stream:
            before, found, _ = piece.partition(b"dataset.created")
            yield before
            if found:
                raise httpx.ReadError("the network broke")

    async def aclose(self) -> None:
        await self.stream.aclose()


class BreakingStream(httpx.AsyncHTTPTransport):
    """Breaks the first stream of events in its first event."""

    streams = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if request.url.path == "/api/live":
            self.streams += 1
            if self.streams == 1:
                response.stream = CutInEvent(response.stream)
        return response


def uploads() -> Dict[str, Any]:
    breaking = Breaking()
    with Pounce(URL, key=KEY, http=httpx.Client(transport=breaking, timeout=60)) as pounce:
        dataset = pounce.api.create_empty_dataset(body={"name": "Broken"})["id"]
        progress: List[int] = []
        about: Dict[str, Any] = {"dataset": dataset, "piece_bytes": PIECE}
        first = pounce.upload(io.BytesIO(DATA), path="raw/a.bin", on_progress=lambda sent, _: progress.append(sent), **about)
        started: List[str] = []

        def stop(sent: int, total: int) -> None:
            if sent > 0:
                raise KeyboardInterrupt

        try:
            pounce.upload(io.BytesIO(DATA), filename="b.bin", on_start=started.append, on_progress=stop, **about)
        except KeyboardInterrupt:
            pass
        resumed: List[int] = []
        second = pounce.upload(
            io.BytesIO(DATA), resume=started[0], on_progress=lambda sent, _: resumed.append(sent), **about
        )
        others = []
        for other in (b"short", DATA + b"more"):
            try:
                pounce.upload(io.BytesIO(other), resume=started[0], **about)
            except ValueError as error:
                others.append("with 3145728 bytes" in str(error))
        try:
            pounce.upload(Shortened(DATA), filename="shortened.bin", **about)
        except EOFError:
            others.append(True)
        growing = io.BytesIO(b"first")
        grown = pounce.upload(growing, filename="growing.log", on_progress=lambda *_: growing.seek(0, 2) and growing.write(b"more"), **about)
        others.append(pounce.api.get_file(grown).content == b"first")
        sink = io.BytesIO()
        pounce.download(second, sink)
        form = pounce.api.upload_to_dataset(dataset, body={"file": ("c.csv", b"a,b\n1,2\n", "text/csv")})
        return {
            "pieces": breaking.pieces,
            "progress": progress,
            "resumedFrom": resumed[0],
            "same": [hashlib.sha256(pounce.api.get_file(first).content).hexdigest() == HASH, sink.getvalue() == DATA],
            "names": sorted(entry["name"] for entry in pounce.all.list_entries(dataset, limit=1)),
            "form": "id" in form,
            "others": others,
        }


def pages() -> Dict[str, Any]:
    with Pounce(URL, key=KEY) as pounce:
        made = [pounce.api.create_empty_dataset(body={"name": f"Plot {n}"})["id"] for n in range(250)]
        found = [each["id"] for each in pounce.all.list_datasets(limit=40)]
        return {"all": set(made) <= set(found), "once": len(found) == len(set(found))}


def search() -> List[str]:
    with Pounce(URL, key=KEY) as pounce:
        return sorted(str(hit["name"]) for hit in pounce.all.search(query="niobium", size=2))


def problem() -> Dict[str, Any]:
    found = []
    for url in (URL, "http://127.0.0.1:9"):
        try:
            Pounce(url, key=KEY).api.get_dataset("5b2a1c8e4f0c2d3a6b7e9f10")
        except PounceProblem as error:
            found.append([error.status, error.code, error.title, error.request_id != ""])
    damaged = []
    for body in (b'{"message": oops', b'"text"', b'["list"]', b"null"):
        answer = httpx.Response(503, content=body, headers={"content-type": "application/json"})
        http = httpx.Client(transport=httpx.MockTransport(lambda _, answer=answer: answer))  # type: ignore[misc]
        try:
            Pounce(URL, http=http).api.list_datasets()
        except PounceProblem as error:
            damaged.append(error.status)
    refused = 0
    for value in ("", ".", "..", None):
        try:
            Pounce(URL, key=KEY).api.get_dataset(value)  # type: ignore[arg-type]
        except ValueError as error:
            refused += "needs id" in str(error)
    return {"found": found, "refused": refused, "damaged": damaged}


def redirects() -> List[Any]:
    seen: List[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append([request.url.host, request.url.path, request.headers.get("x-api-key")])
        if request.url.path.endswith("/plain"):
            return httpx.Response(302, headers={"location": "http://data.example.org/unencrypted"})
        if request.url.scheme == "http":
            return httpx.Response(200, content=b"bytes")
        if request.url.host == "data.example.org":
            return httpx.Response(302, headers={"location": "https://s3.example.org/object"})
        return httpx.Response(200, content=b"bytes")

    http = httpx.Client(transport=httpx.MockTransport(answer))
    Pounce("https://data.example.org/pounce/", key="secret", http=http).api.get_file("a/b")
    Pounce("https://data.example.org", key="secret", http=http).api.get_file("plain")
    return seen


def frames() -> Dict[str, Any]:
    place = {"type": "Point", "coordinates": [-88.2, 40.1, 0]}
    with Pounce(URL, key=KEY) as pounce:
        properties = {"type": {"id": "station", "title": "Station"}, "region": "North"}
        sensor = pounce.api.create_sensor(body={"name": "Plot 7", "type": "Feature", "geometry": place, "properties": properties})
        about: Any = {"name": "Water", "type": "Feature", "geometry": place, "properties": {}, "sensor_id": str(sensor["id"])}
        stream = str(pounce.api.create_stream(body=about)["id"])
        for hour in range(3):
            start = f"2026-03-05T1{hour}:00:00Z"
            datapoint: Any = {"start_time": start, "end_time": start, "type": "Feature", "geometry": place}
            pounce.api.create_datapoint(body={**datapoint, "properties": {"depth": hour}, "stream_id": stream})
        datapoints = pounce.read_datapoints(stream=stream)
        dataset = pounce.api.create_empty_dataset(body={"name": "Table"})["id"]
        table = pounce.read_csv(pounce.upload(io.BytesIO(b"depth,water\n30,0.2\n60,0.4\n"), dataset=dataset, filename="a.csv"))
        return {
            "columns": list(datapoints.columns),
            "depths": [int(each) for each in datapoints["depth"]],
            "kind": str(datapoints["start_time"].dtype),
            "water": float(table["water"].sum()),
        }


async def live() -> Dict[str, Any]:
    broken = BreakingStream()
    names: List[str] = []
    async with AsyncPounce(URL, key=KEY, http=httpx.AsyncClient(transport=broken, timeout=60)) as pounce:
        opened = asyncio.Event()

        async def first() -> None:
            await opened.wait()
            await pounce.api.create_empty_dataset(body={"name": "Live one"})

        making = asyncio.create_task(first())
        async for event in pounce.events(type=["dataset.created"], mine=True, on_open=opened.set):
            names.append(str(event["data"]["name"]))
            if names == ["Live one"]:
                await pounce.api.create_empty_dataset(body={"name": "Live two"})
            if "Live two" in names:
                break
        await making
        mine = [each["id"] async for each in pounce.all.list_datasets(limit=100)]
    return {"names": names, "streams": broken.streams, "listed": len(mine) >= 2}


print(
    json.dumps(
        {
            "search": search(),
            "uploads": uploads(),
            "problem": problem(),
            "redirects": redirects(),
            "frames": frames(),
            "live": asyncio.run(live()),
            "pages": pages(),
        }
    )
)
