"""An MCP server in Python over standard input and output: one tool that adds up."""

import json
import sys

TOOL = {
    "name": "add",
    "description": "Adds numbers",
    "inputSchema": {
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "number"}}},
        "required": ["numbers"],
    },
}


def result_of(method, params):
    if method == "initialize":
        info = {"name": "adder", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        total = sum(params["arguments"]["numbers"])
        return {"content": [{"type": "text", "text": f"{total} ∑"}], "structuredContent": {"total": total}}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result_of(message["method"], message.get("params"))}
        sys.stdout.write(json.dumps(answer, ensure_ascii=True) + "\n")
        sys.stdout.flush()
