"""An MCP server whose tools end the streams of their answers before they have worked, so that clients ask again."""

import asyncio
import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.streamable_http import EventMessage, EventStore


class Kept(EventStore):
    def __init__(self):
        self.events = []

    async def store_event(self, stream, message):
        self.events.append((stream, message))
        return str(len(self.events))

    async def replay_events_after(self, last, send):
        stream = self.events[int(last) - 1][0]
        for number, (of, message) in enumerate(self.events, 1):
            if number > int(last) and of == stream and message is not None:
                await send(EventMessage(message, str(number)))
        return stream


server = FastMCP("resuming", host="127.0.0.1", port=int(sys.argv[1]), event_store=Kept(), retry_interval=150)
calls = []


@server.tool()
async def work(times: int, seconds: float, ctx: Context) -> dict[str, int]:
    """Ends its stream so many times, and works so many seconds before each and at the end."""
    calls.append(times)
    for _ in range(times):
        await ctx.report_progress(1, 2)
        await ctx.close_sse_stream()
        await asyncio.sleep(seconds)
    return {"calls": len(calls)}


server.run("streamable-http")
