import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationIdOf } from '../../api/openapi.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { deadConfig, openApi } from './setting.ts'

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>>
}

let setting: Awaited<ReturnType<typeof openApi>>
let document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}
let text: string
beforeAll(async () => {
  setting = await openApi(deadConfig(await freePort()))
  text = (await setting.api.inject('/v1/openapi.json')).body
  document = JSON.parse(text) as typeof document
})
afterAll(() => setting.close())

function objectsIn(part: unknown, found = new Map<string, number>()): Map<string, number> {
  if (typeof part !== 'object' || part === null) return found
  if ('properties' in part && 'type' in part) found.set(JSON.stringify(part), (found.get(JSON.stringify(part)) ?? 0) + 1)
  for (const inner of Object.values(part)) objectsIn(inner, found)
  return found
}

test('each route has an operation id of its own', () => {
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(expect.arrayContaining(['getTransfers', 'postTransfers', 'getTransfer', 'transferRetry', 'transfersRetry']))
})

test.each([
  ['GET', '/v1', 'getRoutes'],
  ['GET', '/v1/lanes/:lane/batches', 'getLaneBatches'],
  ['POST', '/v1/lanes/:lane/cancel-nonce', 'laneCancelNonce'],
  ['POST', '/v1/settings', 'postSettings'],
  ['GET', '/relayvaa/*', 'getRelayvaa'],
])('%s %s has the operation id %s', (method, path, id) => {
  expect(operationIdOf(method, path)).toBe(id)
})

test('an object that occurs more than once is a component of the document, unless it is small', () => {
  const repeated = [...objectsIn(document.paths)].filter(([json, count]) => count > 1 && json.length > 400)
  expect(repeated).toEqual([])
  expect(text.length).toBeLessThan(250_000)
})

test('every reference has a component, and every component a reference', () => {
  const named = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)
  expect(new Set(named)).toEqual(new Set(Object.keys(document.components.schemas)))
  expect(named).toEqual(expect.arrayContaining(['Problem', 'Transfer', 'TransferPage', 'CauseReport', 'Settings']))
})

test('each refusal is the component Problem', () => {
  const refusals = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ responses }) => responses['401']?.content?.['application/problem+json']?.schema ?? []),
  )
  expect(refusals.length).toBeGreaterThan(50)
  for (const refusal of refusals) expect(refusal).toEqual({ $ref: '#/components/schemas/Problem' })
})
