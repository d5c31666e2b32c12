import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { runCli } from '../cli/run-cli.ts'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
/** The committed schema. `npm run docs:check` compares the file with the code. ajv cannot check formats (uri). */
const schema = JSON.parse(read('config/portage.schema.json')) as object
const validate = new Ajv2020({ allErrors: true, validateFormats: false, strict: true, allowUnionTypes: true }).compile(schema)

type Tree = Record<string, unknown>
const example = (): Tree => parse(read('config/portage.example.yaml')) as Tree
const ethereum = (tree: Tree) => (tree['chains'] as { ethereum: Tree }).ethereum

function faults(tree: unknown): string[] {
  validate(tree)
  return [...new Set((validate.errors ?? []).map(({ instancePath }) => instancePath))]
}

test.each(['config/portage.example.yaml', 'deploy/compose/portage.example.yaml'])(
  '%s fits the JSON Schema, with its references ${…}',
  (path) => {
    expect(read(path)).toContain('${')
    expect(faults(parse(read(path)))).toEqual([])
  },
)

test('the example names the schema in its first line, for editors', () => {
  expect(read('config/portage.example.yaml').split('\n')[0]).toBe('# yaml-language-server: $schema=portage.schema.json')
})

test('the JSON Schema finds an unknown field, a wrong kind of value and a wrong text', () => {
  const tree = example()
  tree['nodes'] = []
  ethereum(tree)['networkId'] = 'one'
  ethereum(tree)['contracts'] = { core: '0x1', tokenBridge: '${TOKEN_BRIDGE}' }
  ethereum(tree)['feeModel'] = 'bitcoin'
  expect(faults(tree)).toEqual(
    expect.arrayContaining(['', '/chains/ethereum/networkId', '/chains/ethereum/contracts/core', '/chains/ethereum/feeModel']),
  )
  expect(faults(tree)).not.toContain('/chains/ethereum/contracts/tokenBridge')
})

test('portage config schema prints the JSON Schema', async () => {
  const { out, code } = await runCli(['config', 'schema'])
  expect([code, JSON.parse(out)]).toEqual([0, schema])
  expect((await runCli(['config', 'schema', '--json'])).json()).toEqual(schema)
})
