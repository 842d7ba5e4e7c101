#!/usr/bin/env python3
"""A role agent in Python, with the websockets package (Debian: python3-websockets). It answers tasks as a translator:
npc-crew hub                  then, in a second terminal:   python3 examples/echo_agent.py ws://127.0.0.1:8765
To write your own, replace `work` and the role. docs/protocol.md explains the frames."""
import asyncio
import json
import os
import sys
import websockets

DEFAULTS = ["ws://127.0.0.1:8765", "translator-py", "translator"]
URL, NAME, ROLE = sys.argv[1:] + DEFAULTS[len(sys.argv) - 1 :]

# A hub that asks for a token keeps it in the file `token` of its state folder: NPC_HUB_TOKEN=$(cat FILE)
TOKEN = os.environ.get("NPC_HUB_TOKEN")
HEADERS = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
# websockets 14 and later call this argument additional_headers, those up to 13 extra_headers.
VERSION = int(websockets.__version__.split(".")[0])
WITH_HEADERS = {"additional_headers" if VERSION >= 14 else "extra_headers": HEADERS}


async def work(task):
    """The agent's real job: a goal in, a result out. This one only says the goal again."""
    artifacts = [{"kind": "text", "title": "translation", "text": task["goal"]}]
    summary = f"As {ROLE} I heard: {task['goal']}"[:2000]
    return {"status": "success", "summary": summary, "artifacts": artifacts, "issues": []}


async def send(hub, kind, payload={}, **more):
    frame = {"v": 1, "type": kind, "from": NAME, "to": "hub", "task_id": "", "payload": payload, **more}
    await hub.send(json.dumps(frame))


async def main():
    async with websockets.connect(f"{URL}/?agent={NAME}&v=1", **WITH_HEADERS) as hub:
        # The first frame, within 10 s: it says which tasks to offer, and how many at once.
        await send(hub, "hello", {"v": 1, "roles": [ROLE], "max_concurrency": 1})
        async for text in hub:
            frame = json.loads(text)
            print(f"{NAME} got: {frame['type']}", file=sys.stderr)
            if "seq" in frame:  # what has a number is kept for you until you say that you have it
                await send(hub, "ack", {"seq": frame["seq"]})
            if frame["type"] == "task.assign":  # every frame of a task carries its attempt
                task = {"task_id": frame["task_id"], "attempt": frame["attempt"]}
                await send(hub, "task.accept", **task)  # within 15 s; after 5 min without task.progress it is given away
                await send(hub, "task.result", await work(frame["payload"]), **task)


asyncio.run(main())
