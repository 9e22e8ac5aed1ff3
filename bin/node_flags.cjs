// Flags that every Node of ours is started with; they take effect at the start of a process only.
"use strict";

/**
 * Megabytes of one half of the young generation. Left alone it grows to several times this in a burst and is not given
 * back, which costs each live workstream more memory than its own data does.
 */
module.exports = ["--max-semi-space-size=8"];
