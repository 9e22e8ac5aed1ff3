// Loaded before a process of ours that has another one of ours above it.
"use strict";

/**
 * A parent that is killed outright can pass nothing on, and its child would keep the port and the store to itself. The
 * channel between the two closes with the parent, so the child ends as its parent did.
 */
if (process.env.TURNSTONE_SUPERVISED === "1" && process.channel) {
  delete process.env.TURNSTONE_SUPERVISED;
  process.once("disconnect", function () {
    process.kill(process.pid, "SIGKILL");
  });
  process.channel.unref();
}
