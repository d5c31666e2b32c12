import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { loadConfig, parseConfig } from '../../config/load/load.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const contract = `0x${'c0'.repeat(20)}`
const least = `
chains:
  ethereum:
    family: evm
    networkId: 1
    nodes: [{ url: "https://node.example/v3/\${NODE_KEY}" }]
    blockTimeMs: 12000
bridges: {}
`
const env = { NODE_KEY: 'abcdef0123456789' }

describe('files of the config', () => {
  const folder = temporaryFolder()

  test('keystores and password files are found from the config file', async () => {
    const signer = '{ kind: keystore, file: keys/a.json, passwordFile: ../a.password }'
    const lane = `    lanes: [{ address: '${contract}', signer: ${signer} }]\n`
    await writeFile(join(folder, 'portage.yaml'), least.replace('bridges:', `${lane}bridges:`))
    const config = await loadConfig(join(folder, 'portage.yaml'), env)
    const passwordFile = join(folder, '..', 'a.password')
    expect(config.chains['ethereum']?.lanes[0]?.signer).toEqual({ kind: 'keystore', file: join(folder, 'keys/a.json'), passwordFile })
  })

  test('a missing file is named, with a remedy', async () => {
    const path = join(folder, 'absent.yaml')
    const error = await loadConfig(path, env).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RelayerError)
    expect((error as RelayerError).message.replace(path, 'absent.yaml')).toMatchInlineSnapshot(`
      "The config has problems. absent.yaml:
        - the file does not exist. Name it with --config, or make one: portage init.
       (problems=1) → Correct what the message names."
    `)
  })

  test('a config whose admin port is the port of the API is refused', async () => {
    const path = join(folder, 'ports.yaml')
    const load = async (more: string) => {
      await writeFile(path, `${least}${more}`)
      return loadConfig(path, env).then(
        ({ admin }) => admin.port,
        (thrown: unknown) => (thrown as RelayerError).message,
      )
    }
    const refusal = 'admin.port is the port of the API (api.port). Choose another one; 0 takes any free port.'
    expect(await load('admin: { port: 8099 }\n')).toContain(refusal)
    expect(await load('api: { port: 9464 }\nadmin: { port: 9464 }\n')).toContain(refusal)
    expect(await load('api: { port: 0 }\nadmin: { port: 0 }\n')).toBe(0)
    expect(await load('admin: { port: 9464 }\n')).toBe(9464)
  })

  const example = fileURLToPath(new URL('../../config/portage.example.yaml', import.meta.url))
  const variables = { ETHEREUM_RPC_URL: 'https://a.example', AVALANCHE_RPC_URL: 'https://b.example' }

  test('the example is valid', async () => {
    const config = await loadConfig(example, variables)
    expect(Object.keys(config.chains)).toEqual(['ethereum', 'avalanche'])
  })

  test.each(['receivers', 'ntt', 'cctp', 'executor'])('the example of the bridge %s is valid without its comment marks', async (bridge) => {
    const lines = (await readFile(example, 'utf8')).split('\n')
    const start = lines.indexOf(`  # ${bridge}:`)
    const end = lines.indexOf('', start)
    const text = lines.map((line, index) => (index >= start && index < end ? line.replace('# ', '') : line)).join('\n')
    expect(Object.keys(parseConfig(text, variables, 'portage.yaml').bridges)).toEqual(['wormhole-token-bridge', bridge])
  })
})
