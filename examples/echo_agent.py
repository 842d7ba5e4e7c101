#!/usr/bin/env python3
"""A role agent in Python, with the websockets package (Debian: python3-websockets). It answers tasks as a translator:
npc-crew hub                  then, in a second terminal:   python3 examples/echo_agent.py ws://127.0.0.1:8765
To write your own, replace `work` and the role. docs/protocol.md explains the frames."""
import asyncio
import json
import os
import random
import signal
import sys
import uuid
import websockets

DEFAULTS = ["ws://127.0.0.1:8765", "translator-py", "translator"]
URL, NAME, ROLE = (sys.argv[1:] + DEFAULTS[len(sys.argv) - 1 :])[:3]

# A hub that asks for a token keeps it in the file `token` of its state folder: NPC_HUB_TOKEN=$(cat FILE)
TOKEN = os.environ.get("NPC_HUB_TOKEN")
HEADERS = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
# websockets 14 and later call this argument additional_headers, those up to 13 extra_headers.
VERSION = int(websockets.__version__.split(".")[0])
WITH_HEADERS = {"additional_headers" if VERSION >= 14 else "extra_headers": HEADERS}


async def work(task):
    """The agent's real job: a goal in, a result out. This one only says the goal again. It is cancelled with its task."""
    artifacts = [{"kind": "text", "title": "translation", "text": task["goal"]}]
    summary = f"As {ROLE} I heard: {task['goal']}"[:2000]
    return {"status": "success", "summary": summary, "artifacts": artifacts, "issues": []}


class Agent:
    def __init__(self):
        self.hub = None  # the connection, while there is one
        self.welcome = None  # the last one; its session is what we come back to
        self.seq = 0  # the highest number that we are done with
        self.sent = []  # what the hub has not accepted yet, in order
        self.accepted = 0  # frames of this connection that it has
        self.failures = 0  # connections since the last welcome
        self.reason = ""  # what the hub said before it closed
        self.working = {}  # task id -> the work

    async def send(self, kind, payload=None, **more):
        """Sends now, or on the next connection; again there, with the same id, when the hub did not accept it."""
        frame = {"v": 1, "id": str(uuid.uuid4()), "type": kind, "from": NAME, "to": "hub", "task_id": "", **more}
        await self.transmit({**frame, "payload": {} if payload is None else payload})

    async def transmit(self, frame):
        self.sent.append(frame)
        try:
            if self.hub is not None:
                await self.hub.send(json.dumps(frame))
        except websockets.ConnectionClosed:
            pass  # it goes out on the next connection

    async def hello(self):
        """The first frame, within 10 s: which tasks to offer, how many at once, and where we were. Then what was not accepted."""
        again = [frame for frame in self.sent if frame["type"] not in ("hello", "ack")]
        self.sent, self.accepted = [], 0
        payload = {"v": 1, "roles": [ROLE], "max_concurrency": 1}
        if self.welcome:
            known = {key: self.welcome[key] for key in ("session", "resume_token", "epoch")}
            payload["resume"] = {**known, "seq": self.seq}
        await self.send("hello", payload)
        for frame in again:
            await self.transmit(frame)

    async def welcomed(self, welcome):
        say(f"{NAME} is on the hub as {ROLE} ({welcome['resume']['state']})")
        self.welcome, self.failures = welcome, 0
        # After `recovered` all goes on where it was; else this is where the numbers begin.
        if welcome["resume"]["state"] != "recovered":
            self.seq = welcome["seq"]
        # What the hub thinks we do and we do not, as after a restart: somebody else shall do it.
        for task in welcome["tasks"]:
            kept = [frame for frame in self.sent if frame["type"] == "task.result"]
            if task["task_id"] not in [*self.working, *(frame["task_id"] for frame in kept)]:
                await self.send("task.release", task_id=task["task_id"], attempt=task["attempt"])

    async def do_task(self, frame):
        task = {"task_id": frame["task_id"], "attempt": frame["attempt"]}  # every frame of a task carries its attempt
        job = asyncio.create_task(work(frame["payload"]))
        self.working[frame["task_id"]] = job
        await self.send("task.accept", **task)  # within 15 s
        # Work of minutes also sends `task.progress` whenever it gets on: after 5 min of silence the hub asks somebody else.
        await asyncio.wait([job])
        error = "cancelled" if job.cancelled() else job.exception() and str(job.exception())
        issues = [{"severity": "blocking", "message": error}]
        failed = {"status": "failed", "summary": str(error)[:2000], "artifacts": [], "issues": issues}
        if self.working.get(frame["task_id"]) is job:
            del self.working[frame["task_id"]]
        await self.send("task.result", failed if error else job.result(), **task)

    async def take(self, frame):
        kind = frame["type"]
        if "seq" in frame:  # what has a number is kept for you until you say that you have it, and may come again
            if frame["seq"] <= self.seq:
                return
            self.seq = frame["seq"]
            await self.send("ack", {"seq": self.seq})
        if kind == "welcome":
            await self.welcomed(frame["payload"])
        elif kind == "accepted":
            upto = frame["payload"]["upto"]
            del self.sent[: upto - self.accepted]
            self.accepted = upto
        elif kind == "error":
            self.reason = f"{frame['payload']['message']} ({frame['payload']['code']})"
            say(f"refused: {self.reason}")
        elif kind == "task.assign":
            self.job = asyncio.create_task(self.do_task(frame))
        elif kind == "task.cancel" and frame["task_id"] in self.working:
            self.working[frame["task_id"]].cancel()

    async def connect_once(self):
        """One connection, until it ends; returns why, and whether coming back is of use."""
        self.reason = ""
        try:
            # The package answers the hub's pings, sends its own, and ends a connection that has gone silent.
            async with websockets.connect(f"{URL}/?agent={NAME}&v=1", **WITH_HEADERS) as hub:
                self.hub = hub
                await self.hello()
                try:
                    async for text in hub:
                        await self.take(json.loads(text))
                except websockets.ConnectionClosedError:
                    pass
                # From 4500 on coming back is of no use.
                return self.reason or f"{hub.close_code} {hub.close_reason}", (hub.close_code or 0) < 4500
        except websockets.InvalidHandshake as error:  # the hub does not let us in; 14 and later have what it says, too
            response = getattr(error, "response", None)
            status = getattr(error, "status_code", None) or getattr(response, "status_code", 0)
            body = (getattr(response, "body", None) or b"").decode()
            help_ = "it asks for its token: NPC_HUB_TOKEN" if status == 401 else str(error)
            return f"HTTP {status} {body.strip() or help_}", status not in range(400, 500) or status == 429
        except (OSError, asyncio.TimeoutError) as error:
            return str(error) or "no answer", True
        finally:
            self.hub = None

    async def leave(self, stay):
        """`bye` lets the hub give our tasks to others at once."""
        await self.send("bye")
        stay.cancel()

    async def stay(self):
        """One connection after the other, each after a random pause that grows."""
        while True:
            reason, may_return = await self.connect_once()
            if not may_return or not self.welcome:
                sys.exit(f"{NAME} could not stay on the hub at {URL}: {reason}")
            pause = random.random() * min(15, 0.5 * 2 ** min(self.failures, 5))
            self.failures += 1
            say(f"the hub is gone: {reason}; trying again in {pause:.1f} s")
            await asyncio.sleep(pause)


def say(line):
    print(line, file=sys.stderr, flush=True)


async def main():
    agent = Agent()
    stay = asyncio.ensure_future(agent.stay())
    for number in (signal.SIGINT, signal.SIGTERM):
        leave = lambda: asyncio.ensure_future(agent.leave(stay))
        asyncio.get_running_loop().add_signal_handler(number, leave)
    try:
        await stay
    except asyncio.CancelledError:
        pass


asyncio.run(main())
