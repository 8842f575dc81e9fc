"""Error responses of the server."""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping, Optional

import httpx


class PounceProblem(Exception):
    """An error response of the server (RFC 9457), or status 0 if it is unreachable."""

    def __init__(self, body: Mapping[str, Any], *, retry_after_seconds: Optional[float] = None) -> None:
        status = body.get("status")
        self.type: str = str(body.get("type", "about:blank"))
        self.title: str = str(body.get("title", ""))
        #: The HTTP status.
        self.status: int = status if isinstance(status, int) else 0
        self.detail: str = str(body.get("detail") or body.get("message") or self.title)
        #: For programs: ``not-found``, ``permission-denied``, ``unreachable`` …
        self.code: str = str(body.get("code", ""))
        #: The request id in the server's log.
        self.request_id: str = str(body.get("requestId", ""))
        #: From ``Retry-After``.
        self.retry_after_seconds = retry_after_seconds
        self.body = body
        super().__init__(self.detail)

    @property
    def is_passing(self) -> bool:
        """Whether the error is transient: network, server load, or an earlier request that is still being processed."""
        return self.status == 0 or self.status >= 500 or self.status in (408, 409, 423, 429)


def _members_in(response: httpx.Response) -> Dict[str, Any]:
    """The members of an error response: none if it is not a JSON object."""
    try:
        body = json.loads(response.content) if "json" in response.headers.get("content-type", "") else None
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def problem_of(response: httpx.Response) -> PounceProblem:
    """The problem in an error response whose body was read. Proxies may respond with pages of their own."""
    wait = response.headers.get("retry-after", "")
    members = {"title": response.reason_phrase, **_members_in(response), "status": response.status_code}
    return PounceProblem(members, retry_after_seconds=float(wait) if wait.isdigit() else None)


def unreachable(request: str, error: httpx.HTTPError) -> PounceProblem:
    """The problem for a request without a response."""
    return PounceProblem(
        {"title": "Unreachable", "detail": f"{request}: the server is unreachable ({error})", "code": "unreachable"}
    )
