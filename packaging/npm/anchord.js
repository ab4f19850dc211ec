#!/usr/bin/env node
// Runs the anchord of this machine. The programs are in a package for each platform, of which npm
// installs the one that fits.
"use strict";

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const platform = `${process.platform}-${process.arch}`;
let programs;
try {
  programs = path.join(path.dirname(require.resolve(`@anchord/${platform}/package.json`)), "bin");
} catch {
  console.error(`error: there is no build for ${platform}, or npm left it out`);
  console.error("  npm install without --omit=optional, or build it: cargo install --path cli");
  process.exit(1);
}

const words = process.argv.slice(2);

// Agents are told where anchord is, and npx's copy may be cleared at any time.
const isTemporary = programs.split(path.sep).includes("_npx");
const isLooking = words.some((word) => ["--remove", "--dry-run", "--help", "-h"].includes(word));
if (isTemporary && words[0] === "setup" && !isLooking) {
  const own = path.join(os.homedir(), ".local", "bin");
  fs.mkdirSync(own, { recursive: true });
  for (const name of fs.readdirSync(programs)) {
    const to = path.join(own, name);
    fs.copyFileSync(path.join(programs, name), `${to}.new`);
    fs.renameSync(`${to}.new`, to);
  }
  console.error(`installed anchord in ${own}, since npx's copy does not stay`);
  programs = own;
}

const ended = spawnSync(path.join(programs, "anchord"), words, { stdio: "inherit" });
if (ended.error) {
  console.error(`error: ${ended.error.message}`);
  process.exit(1);
}
if (ended.signal) process.kill(process.pid, ended.signal);
process.exit(ended.status);
