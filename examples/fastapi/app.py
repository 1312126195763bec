"""A backend that holds a device for each of its users. What that means for them: docs/backend.md.

sottovoce task create examples/fastapi/task.toml
granian --interface asgi --working-dir examples/fastapi app:app
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, HTTPException, Request
from pydantic import BaseModel

from sottovoce.client import Devices, Limits
from sottovoce.protocol.errors import ConfigurationError

TASK = "welcome"
SERVER = os.environ.get("SOTTOVOCE_SERVER", "http://127.0.0.1:8080")
FOLDER = os.environ.get("SOTTOVOCE_PEOPLE", "./people")
LIMITS = Limits(epsilon=2.0, lifetime=10.0)
"""Of every user, whatever a task asks for."""
SEND_EVERY = float(os.environ.get("SOTTOVOCE_SEND_EVERY", "15"))

USERS = {"ada": {"visits": 3, "plan": "free"}, "bob": {"visits": 40, "plan": "team"}}
"""In your backend: the table of users."""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """One thread sends for everybody. What waits at the end is sent after the next start."""
    app.state.devices = Devices(SERVER, FOLDER, limits=LIMITS)
    app.state.devices.start(SEND_EVERY)
    yield
    app.state.devices.close()


app = FastAPI(title="A backend that holds devices", lifespan=lifespan)


def devices_of(request: Request) -> Devices:
    return request.app.state.devices


def user_of(user: Annotated[str, Header(alias="X-User")]) -> str:
    """In your backend: who is signed in."""
    if user not in USERS:
        raise HTTPException(401, "who are you?")
    return user


People = Annotated[Devices, Depends(devices_of)]
User = Annotated[str, Depends(user_of)]


class Reward(BaseModel):
    """How it went: 0 to 1."""

    reward: float


# Plain functions: FastAPI runs them in threads, and a device may wait for the network when it is first opened.


@app.get("/welcome")
def welcome(people: People, user: User) -> dict[str, Any]:
    """Choose what to show. Without budget or consent the choice is made all the same, and nothing is sent."""
    with people.of(user, TASK) as device:
        decision = device.choose(USERS[user])
    return {"show": decision.name, "decision": decision.id}


@app.post("/welcome/{decision}", status_code=204)
def reward(people: People, user: User, decision: str, body: Reward) -> None:
    """Say how it went. The device makes it private; this backend keeps nothing of it."""
    with people.of(user, TASK) as device:
        try:
            device.observe(decision, body.reward)
        except ConfigurationError as error:
            raise HTTPException(404, "no such decision of yours") from error


@app.get("/privacy")
def privacy(people: People, user: User) -> dict[str, Any]:
    """What was spent, what is left, and exactly what will leave: every user may see it."""
    with people.of(user, TASK) as device:
        balance, outbox = device.budget(), [waiting.report for waiting in device.outbox()]
    return {
        "takes_part": not people.opted_out(user),
        "spent": balance.spent,
        "limit": balance.lifetime,
        "reports_left": balance.reports_left,
        "will_leave": outbox,
        "statement": f"{SERVER}/v1/tasks/{TASK}/statement",
    }


@app.post("/privacy/opt-out", status_code=204)
def opt_out(people: People, user: User) -> None:
    """Withdraw what has not left, and send nothing more."""
    people.opt_out(user)


@app.post("/privacy/opt-in", status_code=204)
def opt_in(people: People, user: User) -> None:
    """Take part again, on what is left of the budget."""
    people.opt_in(user)
