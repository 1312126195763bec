"""Which web pages may be devices of a task (CORS): those whose origin its file declares. No cookies are involved."""

from collections.abc import Collection

from starlette.requests import Request

PREFLIGHT = {
    "access-control-allow-headers": "content-type, if-none-match, sottovoce-admission",
    "access-control-max-age": "86400",
}
READABLE = {"access-control-expose-headers": "etag, retry-after"}


def comes_from(request: Request, origins: Collection[str]) -> bool:
    return request.headers.get("origin", "") in origins


def sharing(request: Request, origins: Collection[str], methods: Collection[str]) -> dict[str, str]:
    """The headers that let a page of these origins use a route with these methods; other pages get none."""
    if not comes_from(request, origins):
        return {"vary": "origin"}
    asked = {"access-control-allow-methods": ", ".join(sorted(methods))} | PREFLIGHT
    here = {"vary": "origin", "access-control-allow-origin": request.headers["origin"]} | READABLE
    return here | (asked if request.method == "OPTIONS" else {})
