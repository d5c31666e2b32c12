// Runs the code of one plug-in package in a thread of its own, which thread.ts starts. Only data leaves the thread.
import { createRequire } from 'node:module'
import { serialize } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'

const importFile = createRequire(import.meta.url)('../../bin/import.cjs')
/**
 * `progress`: id of the question for whose answer the process waits (0: none), place of the running part in `parts`
 * (-1: none), and id of the question or job that ran last.
 */
const { questions, progress, mostBytes } = workerData
const outside = -1
let definition
let made
/** Name of a part → its function. The first part is `decode`. */
let parts = []
/** Number of a read that `next` waits for → the functions that end the wait, and the id of the job. */
const reads = new Map()
/** Error of a read → number of the read. */
const numbers = new WeakMap()
let count = 0

function textOf(error, most = 200) {
  if (Array.isArray(error?.issues))
    return error.issues.map(({ path, message }) => `${path.join('.') || 'the value'}: ${message}`).join('; ')
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0].slice(0, most)
}

function packed(value) {
  const bytes = serialize(value)
  return bytes.length > mostBytes ? { failed: `returned more than ${mostBytes} bytes` } : { bytes }
}

function step(name, what, make) {
  try {
    return make()
  } catch (error) {
    throw Object.assign(new Error(`${what}: ${textOf(error, 300)}`, { cause: error }), { step: name })
  }
}

function messageOf({ payloadBytes, route, ...message }) {
  return { ...message, payload: message.bytes.subarray(message.bytes.length - payloadBytes) }
}

function running(place, run) {
  Atomics.store(progress, 1, place)
  try {
    return run()
  } finally {
    Atomics.store(progress, 1, outside)
  }
}

function answerOf(place, run, shown = (value) => value) {
  try {
    const value = running(place, run)
    if (!(value instanceof Promise)) return packed(shown(value))
    // A rejection without a handler would end the thread.
    value.catch(() => {})
    return { failed: 'returned a promise' }
  } catch (error) {
    return { failed: `threw: ${textOf(error)}` }
  }
}

/** The answers of all parts about a message. Only one answer if the message is not the plug-in's. */
function describe(question) {
  const message = messageOf(question)
  let content
  const decode = () => (content = made.decode(message, made.routes[question.route]))
  const isOwn = answerOf(0, decode, (value) => value !== undefined)
  if (content === undefined) return [isOwn]
  return [isOwn, ...parts.slice(1).map(([, run], index) => answerOf(index + 1, () => run({ ...message, content })))]
}

const jobs = {
  async load(url) {
    definition = (await importFile(url)).default
    const { name, version, kit, settings, create } = definition ?? {}
    return { name, version, kit, settings: { parse: typeof settings?.parse }, create: typeof create }
  },

  create({ settings, context }) {
    const parsed = step('settings', 'Its settings are refused', () => definition.settings.parse(settings))
    made = step('create', 'It cannot be created', () => definition.create(parsed, context))
    const { routes, reverts, decode, delivered, parties, policy, earned, next, stages = {} } = made ?? {}
    const ofStages = Object.entries(stages).flatMap(([stage, { call, effect }]) => [
      [`stages.${stage}.call`, call],
      ...(effect ? [[`stages.${stage}.effect`, effect]] : []),
    ])
    const optional = Object.entries({ parties, policy, earned }).filter(([, run]) => run !== undefined)
    parts = [['decode', decode], ['delivered', delivered], ...optional, ...ofStages]
    return {
      routes,
      reverts,
      stages: Object.fromEntries(
        Object.entries(stages).map(([stage, { call, effect, revertsOnceDone }]) => [
          stage,
          { call: typeof call, effect: typeof effect, revertsOnceDone },
        ]),
      ),
      ...{ decode: typeof decode, delivered: typeof delivered, next: typeof next },
      ...{ parties: typeof parties, policy: typeof policy, earned: typeof earned },
      parts: parts.map(([name]) => name),
    }
  },

  async next({ question, now }, id) {
    const message = messageOf(question)
    const content = running(0, () => made.decode(message, made.routes[question.route]))
    const read = (view) =>
      new Promise((resolve, reject) => {
        const read = ++count
        parentPort.postMessage({ id, read, view }, [])
        reads.set(read, { id, resolve, reject })
      })
    return running(parts.length, () => made.next({ ...message, content }, { now, read }))
  },
}

function endRead({ read, values, failed }) {
  const { id, resolve, reject } = reads.get(read)
  reads.delete(read)
  Atomics.store(progress, 2, id)
  if (failed === undefined) return resolve(values)
  const error = new Error(failed)
  numbers.set(error, read)
  return reject(error)
}

async function work({ id, job, input }) {
  Atomics.store(progress, 2, id)
  try {
    parentPort.postMessage({ id, ...packed(await jobs[job](input, id)) }, [])
  } catch (error) {
    const text = job === 'next' ? `next threw: ${textOf(error)}` : textOf(error, 300)
    parentPort.postMessage({ id, error: text, step: error?.step, read: numbers.get(error) }, [])
  }
}

parentPort.on('message', (message) => (message.job === undefined ? endRead(message) : void work(message)))

// A question is answered while the process waits (Atomics.wait). A message without a question only checks that the
// thread is free.
questions.on('message', ({ id, question }) => {
  Atomics.store(progress, 2, id)
  if (Atomics.load(progress, 0) !== id) return
  questions.postMessage(question ? describe(question) : [], [])
  Atomics.store(progress, 0, 0)
  Atomics.notify(progress, 0)
})
