'use strict'
// Runs compiled code. It is copied into the folder of the compiled files; what they import from outside is found from the root of the sources, or of the package.
const { createHash } = require('node:crypto')
const { readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { createRequire, SourceMap } = require('node:module')
const { join } = require('node:path')
const { Script } = require('node:vm')
const { isMainThread } = require('node:worker_threads')

const { root, packages } = require('./root.cjs')
const fromRoot = createRequire(join(root, 'package.json'))
/** The sources; all else is of packages. */
const mainFile = 'main.cjs'
/** What ran, and must be written down for the next process. */
const unkept = []
/** Of SHA-256. */
const digestBytes = 32
let kind = isMainThread ? 'command' : 'thread'

/**
 * The exports of a compiled file. V8 takes what it had compiled of it in an earlier process (`keepCode`): a third of a start would be compiling. V8 itself
 * refuses code of another version or of a source of another length, but would run damaged code: a digest before it shows that (`read`). Who may write here
 * may change the code anyway.
 */
function load(name) {
  const folder = name === mainFile ? __dirname : packages
  const path = join(folder, name)
  // All characters are ASCII, as esbuild writes them.
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

/** `require` of the compiled files: of one another, or of what is installed. */
function requireFor(wanted) {
  if (wanted === './root.cjs') return root
  if (!wanted.startsWith('./')) return fromRoot(wanted)
  if (!loaded.has(wanted)) loaded.set(wanted, load(wanted))
  return loaded.get(wanted)
}
requireFor.resolve = fromRoot.resolve

const digest = (data) => createHash('sha256').update(data).digest()

/** What `keepCode` wrote; undefined if there is nothing, or if it is damaged. */
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

/** Writes down what V8 has compiled so far, each file once. Never throws: a folder that cannot be written makes the next start slower, and nothing else. */
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

/** The source map of a file, or one that knows no place. */
function mapOf(path) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')))
  } catch {
    return { findEntry: () => ({}) }
  }
}

/** Names the sources in stacks. The map is read with the first stack: most commands never show one. */
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
  Error.prepareStackTrace = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${place(frame)}`)].join('\n')
}

/**
 * The command line: `main` of cli/main.ts.
 * @param which `run` and the other commands need different parts of the code, and each keeps its own
 */
function loadMain(which) {
  kind = which
  mapStacks(mainFile)
  return load(mainFile)
}

/** A thread of workflows. It ends without a word, so that the code is written down once the first tasks have run. */
function loadThread() {
  load('thread.cjs')
  setTimeout(() => keepCode(), 5_000).unref()
}

module.exports = { loadMain, loadThread, keepCode }
