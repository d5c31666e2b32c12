import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { readDerSignature } from '../../chains/evm/signers/verified.ts'
import { createSpendingLog } from '../../chains/evm/signers/spending-log.ts'
import { main } from '../../cli/main.ts'
import { parseConfig } from '../../config/load/load.ts'
import { temporalSchema } from '../../config/schema/temporal-schema.ts'
import { resolveTemporal } from '../../config/temporal-access.ts'
import { makeKeys, readKeys } from '../../operations/access/keys.ts'
import { signToken, verifyToken } from '../../operations/access/tokens.ts'
import { lastExport, verifyDay } from '../../operations/archive/orders.ts'
import type { ArchiveStore } from '../../operations/archive/store.ts'
import { readProgress } from '../../operations/archive/transfers.ts'
import { nearlyBytes, nearlyText, orLong } from './arbitraries.ts'
import { type FuzzTarget, isTyped, target } from './fuzz.ts'

const folder = mkdtempSync(join(tmpdir(), 'portage-fuzz-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

const nearlyFile = (good: string, pieces: readonly string[]) =>
  orLong(fc.oneof({ arbitrary: nearlyText(good, pieces), weight: 9 }, { arbitrary: fc.constant(good), weight: 1 }), good)

const storeOf = (text: string): ArchiveStore => ({
  get: () => Promise.resolve({ text, version: '1' }),
  put: () => Promise.resolve(true),
})

const jsonPieces = ['null', '5', '"x"', '[', ']', '{', '}', '\n', ',', '"__proto__":', '1e999', '\u0000', '-1']
const date = '2026-01-02'
const day = `{"version":1,"at":"2026-01-02T00:00:00.000Z","subject":"lane","id":"evm-1:0xa","kind":"pause","previous":"${createHash('sha256').update(`portage:${date}`).digest('hex')}"}\n`
const hour = 1_700_000_000_000 - (1_700_000_000_000 % 3_600_000)
const spending = `\n${hour} 5 1000\n\n${hour + 5} 6 2000\n`
const limits = { maxSpendingPerHourWei: '1000000', maxSpendingPerDayWei: '1000000' } as Parameters<typeof createSpendingLog>[1]
const goodKeys = join(folder, 'good-keys.json')
await makeKeys(goodKeys)
const keyFile = readFileSync(goodKeys, 'utf8')
const keys = (await readKeys(goodKeys)) ?? []
const { token } = await signToken(keys[0]!, 'default', { name: 'fuzz', level: 'read', expiresAt: Date.now() + 86_400_000 })
const toml =
  '[profile.default]\naddress = "127.0.0.1:7233"\nnamespace = "default"\napi_key = "SECRETsecret"\n[profile.default.tls]\ndisabled = true\n[profile.default.grpc_meta]\na = "b"\n'
const example = readFileSync(new URL('../../config/portage.example.yaml', import.meta.url), 'utf8')
const urls = { ETHEREUM_RPC_URL: 'https://a.example', AVALANCHE_RPC_URL: 'https://b.example' }
const receivers =
  'notifications:\n  - name: pager\n    url: https://pager.example/hook\n    secrets: [{ secretVariable: HOOK }]\n    events: [transfer.parked]\n    chains: [ethereum]\n'
const words = [
  'transfer',
  'show',
  'list',
  'lane',
  'stream',
  'node',
  'token',
  'config',
  'check',
  'settings',
  'stuck',
  'archive',
  'init',
  'completion',
  'bash',
  '--json',
  '--chain',
  'bsc',
  '--help',
  '-',
  '--',
  '1/2/3',
]

/** Runs a command line in a folder without a config. Throws Error if the output names an untyped error. */
async function command(line: string): Promise<void> {
  let output = ''
  const sink = { write: (text: string) => (output += text), isTTY: false }
  const stdin = new PassThrough()
  stdin.end()
  const argv = [...line.split('\u001f'), '--config', join(folder, 'absent.yaml')]
  await main(argv, { env: {}, stdin, stdout: sink, stderr: sink, cwd: () => folder, on: () => undefined, off: () => undefined })
  if (/\bINTERNAL\b/.test(output)) throw new Error(`an untyped error: ${output.slice(0, 500)}`)
}

export const fileTargets: readonly FuzzTarget[] = [
  target('archive-day', nearlyFile(day, jsonPieces), (text) => verifyDay(storeOf(text), date)),
  target('archive-progress', nearlyFile('{"through":"2026-01-02T00:00:00.000Z"}', jsonPieces), async (text) => [
    await lastExport(storeOf(text)),
    await readProgress(storeOf(text)),
  ]),
  target('spending-file', nearlyFile(spending, ['\n', ' ', '-', '9'.repeat(41), '\u00e9', '\u0000', 'e5']), (text) => {
    write(`${hour}.log`, text)
    return createSpendingLog(folder, limits, () => hour + 60_000).check(5n, 7)
  }),
  target('key-file', nearlyFile(keyFile, jsonPieces), (text) => readKeys(write('keys.json', text))),
  target('token', nearlyFile(token, ['.', '=', '-', '_', '..', ' ', '\u0000']), (text) => verifyToken(keys, 'default', text)),
  target(
    'temporal-toml',
    nearlyFile(toml, ['[', ']', '"', "'''", '=', '\n', '#', '[[', 'profile', '\u0000', 'inf', '1979-05-27']),
    (text) => {
      const temporal = temporalSchema.parse({ address: 'localhost:7233', useEnvironment: true })
      return resolveTemporal(temporal, { TEMPORAL_CONFIG_FILE: write('temporal.toml', text) })
    },
    (error) => isTyped(error) && !(error as Error).message.includes('SECRETsecret'),
  ),
  target(
    'webhook-config',
    nearlyFile(receivers, ['http://', '[::', '169.254.169.254', '\n', ': ', '- ', '\t', '&a ', '${A}', 'null', '"']),
    (text) =>
      parseConfig(
        `${example}\n${text}`,
        { ...urls, HOOK: `whsec_${Buffer.from('SECRETsecret'.repeat(3)).toString('base64')}` },
        'fuzz.yaml',
      ),
    (error) => isTyped(error) && !(error as Error).message.includes('SECRETsecret'),
  ),
  target(
    'kms-signature',
    nearlyBytes(Buffer.from(`3044${`0220${'11'.repeat(32)}`.repeat(2)}`, 'hex')),
    (hex) => readDerSignature(Buffer.from(hex, 'hex')),
    () => false,
  ),
  target(
    'command-line',
    orLong(
      fc
        .array(fc.oneof({ arbitrary: fc.constantFrom(...words), weight: 5 }, { arbitrary: fc.string(), weight: 1 }), { maxLength: 6 })
        .map((line) => line.join('\u001f')),
      'transfer\u001fshow\u001f',
    ),
    command,
    () => false,
  ),
]
