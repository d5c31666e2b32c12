import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { devServerDynamicConfig } from '../../../lab/devnet/temporal/temporal.ts'
import { searchAttributes } from '../../../temporal/contracts/names.ts'

interface Service {
  image: string
  ports?: string[]
  command?: string[]
  configs?: { source: string; target: string }[]
  environment?: Record<string, string>
}

describe('docker-compose.temporal.yml', () => {
  let compose: { services: Record<string, Service>; configs: Record<string, { content: string }> }

  beforeAll(async () => {
    compose = parse(await readFile(new URL('../../../docker-compose.temporal.yml', import.meta.url), 'utf8')) as typeof compose
  })

  it('opens ports on loopback only', () => {
    const ports = Object.values(compose.services).flatMap((service) => service.ports ?? [])
    expect(ports).toEqual(['127.0.0.1:7233:7233', '127.0.0.1:8233:8080'])
  })

  it('pins every image', () => {
    for (const { image } of Object.values(compose.services)) expect(image).toMatch(/^[\w/-]+:\d+(\.\d+)*(-alpine)?$/)
  })

  it('creates exactly the search attributes that Portage writes, all Keyword', () => {
    const words = (compose.services['init']?.command?.[0] ?? '').split(/\s+/)
    const named = words.filter((_, index) => words[index - 1] === '--name')
    expect(named).toEqual(Object.keys(searchAttributes))
    expect(words.filter((_, index) => words[index - 1] === '--type').map((type) => type.replace(';', ''))).toEqual(
      named.map(() => 'Keyword'),
    )
  })

  it('has the dynamic config of the devnet, where the server looks for it', () => {
    const content = parse(compose.configs['dynamic-config']?.content ?? '') as Record<string, { value: unknown }[]>
    const values = Object.fromEntries(Object.entries(content).map(([key, [first]]) => [key, JSON.stringify(first?.value)]))
    expect(values).toEqual(devServerDynamicConfig)
    const { configs, environment } = compose.services['temporal'] ?? {}
    expect(configs?.[0]).toEqual({ source: 'dynamic-config', target: environment?.['DYNAMIC_CONFIG_FILE_PATH'] })
  })
})
