import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../lab/devnet/run.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { pythonTool } from '../../scripts/python-tool.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { deadConfig, openApi } from './setting.ts'

const tool = await pythonTool('openapi-python-client', '0.29.1')
if ('why' in tool) process.stdout.write(`NOT RUN: test/api/generated-client.integration.test.ts (${tool.why})\n`)

const program = `
import json, sys
from client.client import AuthenticatedClient
from client.api.default import get_links, get_transfers, lane_pause
from client.models import LanePauseBody, Links, Problem
url, token = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=token)
links = get_links.sync(client=client)
page = get_transfers.sync_detailed(client=client, limit=3)
paused = lane_pause.sync_detailed('nowhere', client=client, body=LanePauseBody(reason='a test'))
stranger = get_links.sync(client=AuthenticatedClient(base_url=url, token='x'))
assert isinstance(links, Links) and all(isinstance(one, Problem) for one in (page.parsed, paused.parsed, stranger))
print(json.dumps([links.namespace, page.status_code, page.parsed.code, paused.status_code, paused.parsed.code, stranger.code]))
`

let setting: Awaited<ReturnType<typeof openApi>>
let url: string
beforeAll(async () => {
  setting = await openApi(deadConfig(await freePort()))
  const port = await freePort()
  await setting.bare.listen({ host: '127.0.0.1', port })
  url = `http://127.0.0.1:${port}`
})
afterAll(() => setting.close())

test.skipIf('why' in tool)('a client generated from the OpenAPI document reads answers and refusals', { timeout: 120_000 }, async () => {
  const { bin } = tool as { readonly bin: string }
  const folder = temporaryFolder()
  const { paths, ...document } = (await setting.api.inject('/v1/openapi.json')).json<{ paths: Record<string, object> }>()
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify({ paths, ...document }))
  writeFileSync(join(folder, 'config.yml'), 'post_hooks: []\n')
  const files = ['--path', join(folder, 'openapi.json'), '--output-path', join(folder, 'client'), '--config', join(folder, 'config.yml')]
  const made = await run(join(bin, 'openapi-python-client'), ['generate', ...files, '--meta', 'none', '--fail-on-warning'])
  expect([made.code, made.stdout + made.stderr]).toEqual([0, expect.not.stringMatching(/warning/i)])
  const modules = readdirSync(join(folder, 'client/api/default')).filter((name) => name.endsWith('.py') && name !== '__init__.py')
  expect(modules.length).toBe(Object.values(paths).flatMap((methods) => Object.keys(methods)).length)
  writeFileSync(join(folder, 'ask.py'), program)
  const asked = await run(join(bin, 'python'), [join(folder, 'ask.py'), url, await setting.token()])
  expect([asked.code, asked.stderr]).toEqual([0, ''])
  expect(JSON.parse(asked.stdout)).toEqual(['default', 503, 'TEMPORAL_UNAVAILABLE', 404, 'LANE_NOT_FOUND', 'ACCESS_TOKEN_INVALID'])
})
