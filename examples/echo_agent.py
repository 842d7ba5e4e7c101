#!/usr/bin/env python3
"""A role agent in Python, with the websockets package (Debian: apt-get install python3-websockets).

It joins a hub as a translator and answers every task of that role:

    npc-crew hub            then, in a second terminal:            python3 examples/echo_agent.py ws://127.0.0.1:8765

To write your own, replace `work` and the role. docs/protocol.md explains the frames.
"""
import asyncio
import json
import sys

import websockets

URL, NAME, ROLE = (sys.argv[1:] + ["ws://127.0.0.1:8765", "translator-py", "translator"][len(sys.argv) - 1 :])[:3]


async def work(payload):
    """The agent's real job: a goal in, a result out. This one only says the goal again."""
    summary = f"As {ROLE} I heard: {payload['goal']}"[:2000]
    artifacts = [{"kind": "text", "title": "translation", "text": payload["goal"]}]
    return {"status": "success", "summary": summary, "artifacts": artifacts, "issues": []}


async def main():
    async with websockets.connect(f"{URL}/?agent={NAME}&v=1") as hub:

        async def send(kind, task_id="", payload=None, **more):
            frame = {"v": 1, "type": kind, "from": NAME, "to": "hub", "task_id": task_id, "payload": payload or {}}
            await hub.send(json.dumps({**frame, **more}))

        # The first frame, within 10 s: it says which tasks to offer, and how many at once.
        await send("hello", payload={"v": 1, "roles": [ROLE], "max_concurrency": 1})
        async for text in hub:
            frame = json.loads(text)
            if frame["type"] == "welcome":
                print(f"{NAME} is on the hub as {ROLE}", file=sys.stderr)
            if frame["type"] == "error":
                print("refused:", frame["payload"]["message"], file=sys.stderr)
            offered = frame["type"] == "task.assign"
            # Every frame of a task carries its attempt: it tells you from those who had the task before.
            task = {"task_id": frame["task_id"], "attempt": frame.get("attempt")}
            if offered:
                await send("task.accept", **task)  # within 15 s
            if "seq" in frame:
                await send("ack", payload={"seq": frame["seq"]})  # else it comes again after a reconnect
            if offered:
                # Work of minutes also sends task.progress whenever it gets on; 5 min of silence end the attempt.
                await send("task.result", **task, payload=await work(frame["payload"]))


try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
except (OSError, websockets.exceptions.WebSocketException) as error:
    sys.exit(f"the hub is gone: {error}")
