import { parse } from '../../../cli/arguments/options.ts'
import * as fields from '../../../config/load/values.ts'
import { ofForm } from '../../../domain/field-checks.ts'
import { type Form, forms } from '../../../domain/text/forms.ts'
import { values } from '../../../operations/orders/values.ts'
import { expect, test } from 'vitest'
import type { z } from 'zod'

const address = `0x${'aB'.repeat(20)}`
const passes = (run: () => unknown) => {
  try {
    run()
    return true
  } catch {
    return false
  }
}

interface Doors {
  readonly form: Form
  readonly config?: z.ZodType
  readonly order?: z.ZodType
  readonly command?: (text: string) => unknown
}

const kinds: Readonly<Record<string, readonly [doors: Doors, good: readonly string[], bad: readonly string[]]>> = {
  name: [
    { form: forms.name, config: fields.name, order: values.chainName.schema, command: parse.chainName },
    ['bsc', 'node-1', 'wormhole-22'],
    ['__proto__', 'constructor', 'toString', 'Bsc', '', ' bsc', 'bsc\n', `b${'s'.repeat(31)}`],
  ],
  lane: [
    { form: forms.lane, config: fields.lane, order: values.lane.schema, command: parse.lane },
    [`evm-1:${address}`],
    [`evm-0:${address}`, `evm-01:${address}`, `evm-1:${address}0`, address, `evm-1:${address}\n`],
  ],
  address: [
    { form: forms.address, config: fields.address, order: values.address.schema, command: parse.address },
    [address],
    [address.slice(0, -1), `${address}\n`, address.slice(2)],
  ],
  u64: [
    { form: forms.u64, config: fields.sequence, order: values.u64.schema, command: parse.u64 },
    ['0', '18446744073709551615'],
    ['18446744073709551616', '-1', '01', '1e3', ' 1', '', '99999999999999999999'],
  ],
  gas: [{ form: forms.gas, config: fields.gasUnits, order: values.gas.schema, command: parse.gas }, ['21000'], ['1.5', '-1', '', 'a']],
  age: [{ form: forms.age, order: values.age.schema, command: parse.age }, ['90s', '36525d'], ['999999d', '0s', '5', '5y', '36526d']],
  code: [{ form: forms.code, order: values.code.schema, command: parse.code }, ['LANE_NONE'], ['__proto__', 'A', "A' OR 1=1"]],
  url: [
    { form: forms.url, config: fields.url, command: parse.url },
    ['https://a.example/v3', 'http://127.0.0.1:8545'],
    ['https:x', 'https://a\n.example', 'ftp://a', 'https://', 'https:\\\\a', ' https://a'],
  ],
  host: [{ form: forms.host, config: fields.host }, ['127.0.0.1', '::1', 'api.example'], [':', ':::::', '1.2.3.999', '', 'a b']],
  hostAndPort: [
    { form: forms.hostAndPort, config: fields.hostAndPort },
    ['temporal:7233', '[::1]:7233'],
    ['[:::::]:7233', 'temporal:0', 'temporal:65536', ':7233', 'a b:1'],
  ],
  path: [{ form: forms.path, config: fields.path }, ['./keys/a b.json'], ['', 'a\0b']],
}

test.each(Object.keys(kinds))('config, API and command line accept and refuse the same texts as %s', (kind) => {
  const [{ form, config, order, command }, good, bad] = kinds[kind]!
  const verdicts = (text: string) => [
    passes(() => ofForm(form)(text, 'field')),
    ...[config, order].flatMap((schema) => (schema ? [schema.safeParse(text).success] : [])),
    ...(command ? [passes(() => command(text))] : []),
  ]
  for (const text of good) expect([text, ...new Set(verdicts(text))]).toEqual([text, true])
  for (const text of bad) expect([text, ...new Set(verdicts(text))]).toEqual([text, false])
})

test.each([
  ['2026-11-22T17:00:00Z', Date.UTC(2026, 10, 22, 17)],
  ['2026-11-22T17:00:00+01:00', Date.UTC(2026, 10, 22, 16)],
  ['2026-02-31T00:00:00Z', undefined],
  ['2026-11-22T17:00:00', undefined],
  ['0000-01-01T00:00:00+23:00', undefined],
  ['1969-12-31T23:59:59Z', undefined],
])('API and command line read the time %s as %s ms', (text, ms) => {
  expect(values.time.schema.safeParse(text).data).toBe(ms)
  if (ms === undefined) expect(() => parse.time(text)).toThrow('It must be a day (UTC) or a time with its zone')
  else expect(parse.time(text)).toBe(ms)
})
