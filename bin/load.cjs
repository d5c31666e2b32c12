'use strict'
// Runs the compiled code of the folder into which this file is copied.
const { createHash } = require('node:crypto')
const { readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { createRequire, SourceMap } = require('node:module')
const { join } = require('node:path')
const { Script } = require('node:vm')
const { isMainThread } = require('node:worker_threads')

const { root, packages } = require('./root.cjs')
const fromRoot = createRequire(join(root, 'package.json'))
/** main.cjs contains the sources. All other files contain packages. */
const mainFile = 'main.cjs'
/** Scripts for which there was no usable cached code. `keepCode` stores their code for the next process. */
const unkept = []
const digestBytes = 32
let kind = isMainThread ? 'command' : 'thread'

/**
 * Runs a compiled file and returns its exports. V8 reuses the code that `keepCode` cached, which saves a third of the
 * start. V8 would run damaged code, so `read` checks a digest. The digest does not stop attackers, who could change the
 * code itself.
 */
function load(name) {
  const folder = name === mainFile ? __dirname : packages
  const path = join(folder, name)
  // Every byte is one character, because esbuild and `keepAscii` write only ASCII.
  const source = readFileSync(path, 'latin1')
  const start = '(function (exports, require, module, __filename, __dirname) {'
  const kept = `${path}.${kind}-${process.version}-${process.arch}.v8`
  const cachedData = read(kept)
  const script = new Script(`${start}${source}\n})`, { filename: path, columnOffset: -start.length, cachedData })
  if (cachedData === undefined || script.cachedDataRejected) unkept.push({ script, kept })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, requireFor, module, path, folder)
  return module.exports
}

const loaded = new Map()

function requireFor(wanted) {
  if (wanted === './root.cjs') return root
  if (!wanted.startsWith('./')) return fromRoot(wanted)
  if (!loaded.has(wanted)) loaded.set(wanted, load(wanted))
  return loaded.get(wanted)
}
requireFor.resolve = fromRoot.resolve

const digest = (data) => createHash('sha256').update(data).digest()

function read(path) {
  try {
    const kept = readFileSync(path)
    const data = kept.subarray(digestBytes)
    return kept.subarray(0, digestBytes).equals(digest(data)) ? data : undefined
  } catch {
    return undefined
  }
}

function drop(path) {
  try {
    rmSync(path, { force: true })
  } catch {}
}

/** Stores V8's compiled code, once per file. Never throws: a read-only folder only makes the next start slower. */
function keepCode() {
  for (const { script, kept } of unkept.splice(0)) {
    const draft = `${kept}.${process.pid}-${Date.now()}`
    try {
      const data = script.createCachedData()
      writeFileSync(draft, Buffer.concat([digest(data), data]))
      renameSync(draft, kept)
    } catch {
      drop(draft)
    }
  }
}

function mapOf(path) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')))
  } catch {
    return { findEntry: () => ({}) }
  }
}

/** Maps stack traces to sources. Most commands never show a stack trace, so the map is read only at the first one. */
function mapStacks(name) {
  const path = join(__dirname, name)
  let map
  const place = (frame) => {
    const text = String(frame)
    if (frame.getFileName() !== path) return text
    map ??= mapOf(path)
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
    const { originalSource, originalLine, originalColumn } = map.findEntry(line - 1, column - 1)
    if (originalSource === undefined) return text
    return text.replace(`${path}:${line}:${column}`, `${join(root, originalSource)}:${originalLine + 1}:${originalColumn + 1}`)
  }
  // Does not map errors of other V8 contexts, which the SDK causes by design, because reading the map takes a twentieth
  // of the start.
  const placeOf = (error) => (error instanceof Error ? place : String)
  Error.prepareStackTrace = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${placeOf(error)(frame)}`)].join('\n')
}

/** Loads `main` of cli/main.ts. `which`: `run`, or `command` for all other commands, which have their own cache. */
function loadMain(which) {
  kind = which
  mapStacks(mainFile)
  return load(mainFile)
}

/** Runs a workflow thread. No event announces the thread's end, so its code is stored a few seconds after the start. */
function loadThread() {
  load('thread.cjs')
  setTimeout(() => keepCode(), 5_000).unref()
}

module.exports = { loadMain, loadThread, keepCode }
