"""A module."""
import os
from typing import Any

LIMIT = 3
half = lambda x: x / 2


@decorated(1)
class Store(Base):
    """Keeps things.

    More about it.
    """

    size: int = 0

    @property
    def path(self) -> str:
        """The path. It exists."""
        return self._path

    async def load(
        self,
        name: str,
    ) -> Any:
        def inner():
            pass
        return inner


def main() -> None:
    pass
