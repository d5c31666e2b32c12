/**
 * Sends requests that schemathesis makes from the API's OpenAPI document, to an API with a real Temporal. Fails if an
 * answer is not in the document, or is a fault of Portage. `--seed N` repeats a run. `--seconds N` sets the length.
 * Prints NOT RUN without Python 3.10 or the package.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createProvider, type ProviderOptions } from '../bridges/executor/provider.ts'
import { freePort } from '../lab/devnet/ports.ts'
import type { Metrics } from '../observability/metrics.ts'
import { deadConfig, openApi } from '../test/api/setting.ts'
import { startLedgers } from '../test/lanes/setting.ts'
import { pythonTool } from './python-tool.ts'

const version = '4.32.5'
/**
 * Time limit of a request, seconds. Longer than the 10 s after which the API gives up on an order for a lane or a
 * stream, and answers 503.
 */
const requestTimeout = '60'

/** A 503 means that a node, guardian API, lane or stream does not answer, which is not a fault of the API. */
const settings = `
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "503"]
`

const caps = { maxGasLimit: 10n ** 6n, maxMsgValue: 10n ** 18n, maxGasDropOff: 10n ** 17n }
const payee = `0x${'a'.repeat(40)}`
/** Two chains, with the lowest and the highest chain id, because the generated requests name these ids. */
const executor: ProviderOptions = {
  ...{ quoter: payee, expirySeconds: 3_600, marginPercent: 10 },
  chains: new Map([1, 65_535].map((id) => [id, { name: `chain-${id}`, payee, baseFee: 0n, caps, prefixes: ['ERV1' as const] }])),
  sign: async () => new Uint8Array(65),
  priceOf: async () => 10n ** 10n,
  gasPriceOf: async () => 1n,
  dataFeeOf: async () => 0n,
  assertOpen: () => {},
}

async function answersOf(metrics: Metrics): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [, status = '', count] of (await metrics.render()).matchAll(/^portage_api_requests_total\{.*status="(\d+)"\} (\d+)$/gm))
    found[status] = (found[status] ?? 0) + Number(count)
  return found
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, seconds: { type: 'string', default: '30' } } })
  const tool = await pythonTool('schemathesis', version)
  if ('why' in tool) {
    console.error(`NOT RUN: the API by schemathesis: ${tool.why}`)
    return 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'portage-schemathesis-'))
  const ledgers = await startLedgers()
  const config = deadConfig(await freePort())
  const api = { ...config.api, requestsPerMinute: 1_000_000 }
  const options = { executor: createProvider(executor), requestsOf: async () => [] }
  const setting = await openApi({ ...config, api, temporal: { ...config.temporal, address: ledgers.server.address } }, undefined, options)
  try {
    const port = await freePort()
    await setting.bare.listen({ host: '127.0.0.1', port })
    const settingsFile = join(folder, 'schemathesis.toml')
    await writeFile(settingsFile, settings)
    const argv = [
      ...['--config-file', settingsFile, 'run', `http://127.0.0.1:${port}/v1/openapi.json`],
      // `/v1/events` is not tested, because its answer does not end.
      ...['--exclude-path', '/v1/events'],
      ...['--header', `Authorization: Bearer ${await setting.token()}`, '--max-time', values.seconds],
      ...['--checks', 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,ignored_auth'],
      ...[
        '--phases',
        'examples,coverage,fuzzing',
        // One worker, because Python 3.11 sometimes fails when two threads parse code (CPython issue 106905).
        '--workers',
        '1',
        '--request-timeout',
        requestTimeout,
        '--continue-on-failure',
        '--no-shrink',
        '--warnings',
        'off',
      ],
    ]
    const file = join(tool.bin, 'schemathesis')
    const child = spawn(file, [...argv, '--seed', values.seed], {
      stdio: ['ignore', 'inherit', 'inherit'],
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1' },
    })
    const [code] = (await once(child, 'close')) as [number | null]
    console.log(`answers: ${JSON.stringify(await answersOf(setting.metrics))}`)
    return code ?? 1
  } finally {
    await setting.close()
    await ledgers.stop()
    await rm(folder, { recursive: true })
  }
}

process.exitCode = await main()
