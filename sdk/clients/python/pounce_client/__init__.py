"""A client of Pounce servers."""

from ._generated_async import AsyncApi, AsyncLists, AsyncPounce
from ._generated_sync import Api, Lists, Pounce
from ._problem import PounceProblem

__all__ = ["Api", "AsyncApi", "AsyncLists", "AsyncPounce", "Lists", "Pounce", "PounceProblem"]
