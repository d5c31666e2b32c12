import { afterAll, beforeAll, expect, test } from 'vitest'
import { expandedPaths } from '../../../api/openapi.ts'
import { commands } from '../../../cli/main.ts'
import type { Commands } from '../../../cli/command.ts'
import { freePort } from '../../../lab/devnet/ports.ts'
import { filterFields } from '../../../operations/orders/transfer-filter.ts'
import { type OrderName, orderOf, orders } from '../../../operations/orders/orders.ts'
import { deadConfig, openApi, type OpenApi } from '../../api/setting.ts'
import { runCli } from '../../cli/run-cli.ts'

const names = Object.keys(orders) as OrderName[]

const forMany = ['/v1/transfers/bulk', '/v1/transfers/retry', '/v1/transfers/cancel', '/v1/transfers/expedite']

interface Operation {
  readonly summary?: string
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
}

let setting: OpenApi
let paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
beforeAll(async () => {
  setting = await openApi(deadConfig(await freePort()))
  paths = expandedPaths((await setting.api.inject('/v1/openapi.json')).json<object>()) as typeof paths
})
afterAll(() => setting.close())

function wordsOf(tree: Commands, before: readonly string[] = []): string[] {
  return Object.entries(tree).flatMap(([name, { run, commands: inner = {} }]) => {
    const words = [...before, name]
    return [...(run ? [words.join(' ')] : []), ...wordsOf(inner, words)]
  })
}

test('every order has a command', () => {
  const words = wordsOf(commands)
  expect(names.filter((name) => !words.includes(name))).toEqual([])
})

test('every order has a POST route or a reason for its absence', () => {
  const open = names.filter((name) => {
    const { route } = orderOf(name)
    return route === undefined || paths[route.replaceAll(/:(\w+)/g, '{$1}')]?.['post'] === undefined
  })
  expect(Object.fromEntries(open.map((name) => [name, orderOf(name).onlyCommand]))).toEqual({
    'deploy promote': 'A deployment runs it where the new version is installed.',
    'token create': 'The key file exists only on this machine.',
    'token rotate-key': 'The key file exists only on this machine.',
    'token remove-key': 'The key file exists only on this machine.',
  })
})

test('every POST route is the route of an order, with its summary', () => {
  const known = new Map(names.map((name) => [orderOf(name).route?.replaceAll(/:(\w+)/g, '{$1}'), orderOf(name)]))
  const posts = Object.entries(paths).flatMap(([path, { post }]) => (post && !forMany.includes(path) ? [{ path, post }] : []))
  expect(posts.length).toBeGreaterThan(25)
  expect(posts.filter(({ path }) => !known.has(path))).toEqual([])
  // All orders to the settings share one route.
  const ofOwn = posts.filter(({ path }) => path !== '/v1/settings')
  expect(ofOwn.map(({ path, post }) => [path, post.summary])).toEqual(ofOwn.map(({ path }) => [path, known.get(path)?.summary]))
})

test('queries, bodies and command lines select transfers by the same fields', async () => {
  const fields = Object.keys(filterFields)
  const query = (paths['/v1/transfers']?.['get']?.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name)
  expect(query.filter((name) => name !== 'limit' && name !== 'cursor')).toEqual(fields)
  const body = JSON.stringify(paths['/v1/transfers/retry']?.['post'])
  expect(fields.filter((name) => !body.includes(`"${name}":`))).toEqual([])
  for (const command of ['list', 'watch', 'retry', 'cancel', 'expedite']) {
    const { out } = await runCli(['transfer', command, '--help'])
    expect(Object.values(filterFields).filter(({ flag }) => !out.includes(`  ${flag} `))).toEqual([])
  }
})
