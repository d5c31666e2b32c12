import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseConfig } from '../../config/load/load.ts'
import { serverVersion } from '../../lab/devnet/temporal/find-temporal-server.ts'
import { devServerDynamicConfig } from '../../lab/devnet/temporal/temporal.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import { roles } from '../../workers/roles/roles.ts'
import { temporaryFolder } from '../helpers/folders.ts'

interface Service {
  readonly image: string
  readonly profiles?: readonly string[]
  readonly user?: string
  readonly platform?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly restart?: string
  readonly stop_grace_period?: string
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[]
  readonly environment?: Readonly<Record<string, string>>
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[]
  readonly configs?: readonly { readonly source: string; readonly target: string }[]
  readonly volumes?: readonly string[]
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly deploy?: { readonly resources: { readonly limits: { readonly cpus: string; readonly memory: string; readonly pids: number } } }
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly configs: Readonly<Record<string, { readonly file?: string; readonly content?: string }>>
  readonly volumes: Readonly<Record<string, object>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const compose = parse(read('docker-compose.temporal.yml'), { merge: true }) as Compose
const { version } = JSON.parse(read('package.json')) as { version: string }
const services = Object.entries(compose.services)
const ofPortage = services.filter(([, { image }]) => image.includes('PORTAGE_IMAGE'))
const variables = Object.fromEntries(
  [...read('deploy/compose/nodes.env.example').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value]) => [name, value]),
)
const config = parseConfig(read('deploy/compose/portage.example.yaml'), variables, 'portage.example.yaml')
const option = ({ command = [] }: Service, name: string) => command.filter((_, index) => command[index - 1] === name)
const sourceOf = (secret: string | { readonly source: string }) => (typeof secret === 'string' ? secret : secret.source)

describe('docker-compose.temporal.yml', () => {
  test('docker-compose.temporal.yml is valid by the schema of Compose', () => {
    const validate = new Ajv({ strict: false, validateFormats: false, validateSchema: false }).compile(
      JSON.parse(read('test/deploy/fixtures/compose-spec.json')) as object,
    )
    validate(compose)
    expect(validate.errors ?? []).toEqual([])
    validate({ services: { one: { image: 'x', imagine: true } } })
    expect(validate.errors).toMatchObject([{ params: { additionalProperty: 'imagine' } }])
  })

  test('docker-compose.temporal.yml opens ports on loopback only', () => {
    for (const port of services.flatMap(([, service]) => service.ports ?? [])) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
  })

  test('the compose file pins every image: Portage of this version, Temporal of the tests', () => {
    const others = services.filter((service) => !ofPortage.includes(service))
    for (const [, { image }] of others) expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+(\.\d+)?(-alpine[\d.]+)?(@sha256:[0-9a-f]{64})?$/)
    for (const [, { image }] of ofPortage) expect(image).toBe(`\${PORTAGE_IMAGE:-portage:${version}}`)
    const tagOf = (name: string) => compose.services[name]?.image.replace(/@.*/, '')
    expect(tagOf('temporal')).toBe(`temporalio/server:${serverVersion}`)
    expect(tagOf('schema')).toBe(`temporalio/admin-tools:${serverVersion}`)
    expect(tagOf('set-up')).toBe(`temporalio/admin-tools:${serverVersion}`)
  })

  test.each(services)('the service %s has few privileges, has limits, and reports its health', (name, service) => {
    expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    // The Web UI writes its config next to its program, so its file system is not read-only.
    expect(service.read_only).toBe(name !== 'ui')
    const { cpus, memory, pids } = service.deploy?.resources.limits ?? { cpus: '', memory: '', pids: 0 }
    expect([Number(cpus) > 0, /^\d+[MG]$/.test(memory), pids > 0]).toEqual([true, true, true])
    const ends = service.restart?.startsWith('on-failure') === true
    expect(ends ? undefined : service.healthcheck?.test[0]).toBe(ends ? undefined : 'CMD')
    expect(service.networks.every((network) => network in compose.networks)).toBe(true)
  })

  test('docker-compose.temporal.yml has secrets only in files', () => {
    for (const [, { environment = {} }] of services) {
      const secret = Object.entries(environment).filter(([variable]) => /PASS|PWD|SECRET|TOKEN|KEY/.test(variable))
      for (const [, value] of secret) expect(value).toMatch(/^\/run\/secrets\//)
    }
    const used = new Set(services.flatMap(([, { secrets = [] }]) => secrets.map(sourceOf)))
    expect([...used].toSorted()).toEqual(Object.keys(compose.secrets).toSorted())
    const ignored = read('.gitignore').split('\n')
    for (const folder of ['deploy/compose/secrets', 'deploy/compose/portage.yaml', 'deploy/compose/nodes.env'])
      expect(ignored).toContain(folder)
    const made = read('deploy/compose/make-secrets.sh')
    for (const { file } of Object.values(compose.secrets)) {
      expect(file).toMatch(/^deploy\/compose\/secrets\//)
      expect(made).toContain(file.replace('deploy/compose/secrets/', '').replace(/-(keystore\.json|password)$/, ''))
    }
  })

  test('the compose file names files that exist or that an example next to them becomes', () => {
    const files = [
      ...Object.values(compose.configs).flatMap(({ file }) => file ?? []),
      ...services.flatMap(([, { env_file = [] }]) => env_file.map(({ path }) => path)),
      ...services.flatMap(([, { volumes = [] }]) => volumes.filter((one) => one.startsWith('./')).map((one) => one.split(':')[0] ?? '')),
    ]
    const there = (file: string) =>
      [file, `${file}.example`, file.replace(/\.yaml$/, '.example.yaml')].some((path) => existsSync(join(root, path)))
    expect(files.filter((file) => !there(file))).toEqual([])
    const named = services.flatMap(([, { volumes = [] }]) => volumes.filter((one) => !one.startsWith('./')).map((one) => one.split(':')[0]))
    expect(new Set(named)).toEqual(new Set(Object.keys(compose.volumes)))
  })
})

describe('make-secrets.sh', () => {
  test('make-secrets.sh makes passwords once, says which files are missing, and closes the folder to others', () => {
    const folder = temporaryFolder()
    cpSync(join(root, 'deploy/compose/make-secrets.sh'), join(folder, 'make-secrets.sh'))
    const make = () => execFileSync('sh', [join(folder, 'make-secrets.sh')], { encoding: 'utf8' })
    const password = () => readFileSync(join(folder, 'secrets/postgres-password'), 'utf8')
    const files = Object.values(compose.secrets).map(({ file }) => file.replace('deploy/compose/secrets/', ''))
    const own = files.filter((file) => file.startsWith('lane-'))
    const said = make()
    for (const file of own) expect(said).toMatch(new RegExp(`^missing .*/${file}: `, 'm'))
    expect(readdirSync(join(folder, 'secrets')).toSorted()).toEqual(files.filter((file) => !own.includes(file)).toSorted())
    expect(password()).toMatch(/^[0-9a-f]{48}$/)
    const before = password()
    for (const file of own) writeFileSync(join(folder, 'secrets', file), 'x', { mode: 0o600 })
    expect(make()).toBe('')
    expect(password()).toBe(before)
    const modeOf = (path: string) => statSync(join(folder, path)).mode & 0o777
    expect([modeOf('secrets'), ...files.map((file) => modeOf(`secrets/${file}`))]).toEqual([0o700, ...files.map(() => 0o444)])
  })
})

describe('its Prometheus and Grafana', () => {
  const mounts = ({ volumes = [] }: Service) => volumes.filter((one) => one.startsWith('./')).map((one) => one.split(':').slice(0, 2))

  test('Prometheus reads all rules of deploy/prometheus, in its own folder', () => {
    const { rule_files: files } = parse(read('deploy/compose/prometheus.yml')) as { rule_files: string[] }
    const [mount] = mounts(compose.services['prometheus']!)
    expect(mount?.[0]).toBe('./deploy/prometheus')
    expect(files).toEqual([`${mount?.[1]}/*.yml`])
    expect(readdirSync(join(root, 'deploy/prometheus')).filter((file) => !file.endsWith('.yml'))).toEqual([])
  })

  test('Grafana finds its mounted source and dashboards, and Prometheus keeps a month for the objectives', () => {
    const { configs = [] } = compose.services['grafana']!
    expect(configs).toEqual([
      { source: 'grafana-datasource', target: '/etc/grafana/provisioning/datasources/portage.yaml' },
      { source: 'grafana-dashboards', target: '/etc/grafana/provisioning/dashboards/portage.yaml' },
    ])
    const { providers } = parse(read('deploy/compose/grafana/dashboards.yaml')) as { providers: { options: { path: string } }[] }
    expect(mounts(compose.services['grafana']!)).toEqual([['./deploy/grafana', providers[0]?.options.path]])
    expect(compose.services['prometheus']?.command).toContain('--storage.tsdb.retention.time=30d')
  })
})

describe('its Portage', () => {
  test('the compose file runs every single role, every chain and every lane of the example config', () => {
    expect(new Set(ofPortage.flatMap(([, service]) => option(service, '--role')))).toEqual(
      new Set(roles.filter((role) => role !== 'all' && role !== 'keyless')),
    )
    const chains = ofPortage
      .filter(([, service]) => option(service, '--role')[0] === 'chain')
      .flatMap(([, service]) => option(service, '--chain'))
    expect(chains).toEqual(Object.keys(config.chains))
    const lanes = ofPortage.flatMap(([, service]) => option(service, '--lane').map((lane) => [option(service, '--chain')[0], lane]))
    expect(lanes).toEqual(Object.entries(config.chains).flatMap(([chain, { lanes: all }]) => all.map(({ address }) => [chain, address])))
  })

  test("the compose file gives each key to its lane's process alone, where its signer looks", () => {
    for (const [name, service] of ofPortage) {
      const targets = (service.secrets ?? []).map((secret) => (typeof secret === 'string' ? secret : secret.target))
      const [chain = ''] = option(service, '--chain')
      const [lane] = option(service, '--lane')
      const signer = config.chains[chain]?.lanes.find(({ address }) => address === lane)?.signer
      expect([name, targets]).toEqual([name, signer?.kind === 'keystore' ? [signer.file, signer.passwordFile] : []])
    }
    const sources = ofPortage.flatMap(([, { secrets = [] }]) => secrets.map(sourceOf))
    expect(new Set(sources).size).toBe(sources.length)
  })

  test('Portage subscribes to the guardian spy of the compose file, which starts with it', () => {
    const { spy } = compose.services
    expect(config.bridges['wormhole-token-bridge']?.spies).toEqual([{ address: 'spy:7073' }])
    expect(option(spy!, '--spyRPC')).toEqual(['[::]:7073'])
    expect(spy).toMatchObject({ profiles: ['portage'], networks: ['spies'], platform: 'linux/amd64' })
    // An attacker who controls the spy reaches the intake, but neither Temporal nor a key.
    const reached = Object.entries(compose.services).filter(([, { networks }]) => networks?.includes('spies'))
    expect(reached.map(([name]) => name).toSorted()).toEqual(['intake', 'spy'])
    expect(spy?.ports ?? []).toEqual([])
    // The spy can write only below /run/spy.
    expect(option(spy!, '--nodeKey')[0]).toMatch(/^\/run\/spy\//)
  })

  test('Grafana reaches Prometheus, and not Temporal, which asks for no credentials', () => {
    const inNetwork = (name: string) => services.filter(([, { networks }]) => networks.includes(name)).map(([service]) => service)
    expect(compose.services['grafana']?.networks).toEqual(['monitoring'])
    expect(inNetwork('monitoring')).toEqual(['prometheus', 'grafana'])
    // Only Portage, Temporal's own services, and Prometheus, which collects their metrics.
    const ofTemporal = ['temporal', 'set-up', 'ui']
    expect(inNetwork('fleet').toSorted()).toEqual([...ofTemporal, ...ofPortage.map(([name]) => name), 'prometheus'].toSorted())
  })

  test('the Web UI of the compose file, which answers to every host name, only reads by default', () => {
    expect(compose.services['ui']?.environment).toEqual({
      TEMPORAL_ADDRESS: 'temporal:7233',
      TEMPORAL_DISABLE_WRITE_ACTIONS: '${TEMPORAL_UI_READ_ONLY:-true}',
    })
  })

  test('in the compose file each process has a volume of its own, and time to stop', () => {
    const folder = '/var/lib/portage'
    expect(config.dataFolder.startsWith(`${folder}/`)).toBe(true)
    for (const [name, { volumes, stop_grace_period: grace = '' }] of ofPortage) {
      expect(volumes).toEqual([`${name}:${folder}`])
      expect(Number.parseInt(grace, 10)).toBeGreaterThan(config.worker.shutdownForceSeconds)
    }
  })

  test('the compose file serves health, metrics and API where health check, Prometheus and ports look', () => {
    const { admin, api } = config
    for (const [, { healthcheck }] of ofPortage) expect(healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${admin.port}/readyz`)
    expect([admin.host, api.host]).toEqual(['0.0.0.0', '0.0.0.0'])
    expect(compose.services['api']?.ports).toEqual([`127.0.0.1:${api.port}:${api.port}`])
    const { scrape_configs: jobs } = parse(read('deploy/compose/prometheus.yml')) as {
      scrape_configs: { job_name: string; dns_sd_configs?: { names: string[]; port: number }[] }[]
    }
    const [found] = jobs.find(({ job_name: name }) => name === 'portage')?.dns_sd_configs ?? []
    expect(found).toMatchObject({ names: ofPortage.map(([name]) => name), port: admin.port })
    const image = read('Dockerfile')
    for (const port of [admin.port, api.port]) expect(image).toMatch(new RegExp(`^EXPOSE .*\\b${port}\\b`, 'm'))
  })

  test('Portage mounts its config where the image looks for it, and runs as the user of the image', () => {
    const image = read('Dockerfile')
    for (const [, { configs = [], user }] of ofPortage) {
      expect(image).toContain(`PORTAGE_CONFIG=${configs.find(({ source }) => source === 'portage')?.target}\n`)
      expect(image).toContain(`\nUSER ${user}\n`)
    }
  })
})

describe('its Temporal', () => {
  test('the Temporal of the compose file has exactly the search attributes that Portage writes, all Keyword', () => {
    const words = (compose.services['set-up']?.command?.[0] ?? '').split(/\s+/)
    const named = words.filter((_, index) => words[index - 1] === '--name')
    expect(named).toEqual(Object.keys(searchAttributes))
    expect(words.filter((_, index) => words[index - 1] === '--type').map((type) => type.replace(';', ''))).toEqual(
      named.map(() => 'Keyword'),
    )
  })

  test('the Temporal of the compose file is where the example config looks for it', () => {
    expect(config.temporal).toMatchObject({ address: 'temporal:7233', namespace: 'default' })
    expect(compose.services['set-up']?.environment?.['TEMPORAL_ADDRESS']).toBe(config.temporal.address)
  })

  test('the Temporal of the compose file has the dynamic config of the devnet, where the server looks for it', () => {
    const content = parse(compose.configs['dynamic-config']?.content ?? '') as Record<string, { value: unknown }[]>
    const values = Object.fromEntries(Object.entries(content).map(([key, [first]]) => [key, JSON.stringify(first?.value)]))
    expect(values).toEqual(devServerDynamicConfig)
    const { configs, environment } = compose.services['temporal'] ?? {}
    expect(configs?.[0]).toEqual({ source: 'dynamic-config', target: environment?.['DYNAMIC_CONFIG_FILE_PATH'] })
  })

  test('the compose file lets nobody but Temporal reach PostgreSQL', () => {
    expect(compose.networks['database']).toEqual({ internal: true })
    expect(services.filter(([, { networks }]) => networks.includes('database')).map(([name]) => name)).toEqual([
      'postgresql',
      'schema',
      'temporal',
    ])
  })
})
