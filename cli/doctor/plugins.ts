import { readFile } from 'node:fs/promises'
import { type ConfiguredPlugin, sha256Of } from '../../bridges/packages/load.ts'
import type { ConfiguredChain as Reader } from '../../chains/registry.ts'
import type { Config } from '../../config/schema/schema.ts'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { type ChainCheck, type Check, fail, type Finding, look, lookOnChains, warn } from './check.ts'

export async function checkPlugins(config: Config): Promise<Check[]> {
  const plugins = Object.entries(config.bridges.plugins ?? {}).map(([name, plugin]) => ({ area: `plug-in ${name}`, plugin }))
  const ofRoutes = plugins.flatMap(({ area, plugin }) =>
    plugin.routes.map((route, index): ChainCheck => {
      return { chain: route.to, area, name: `route ${index}`, at: (reader) => routeFinding(reader, route) }
    }),
  )
  const ofFiles = plugins.map(({ area, plugin }) => look(area, 'file', () => fileFinding(plugin)))
  return (await Promise.all([...ofFiles, lookOnChains(config, ofRoutes)])).flat()
}

type Pinned = Pick<ConfiguredPlugin, 'module' | 'sha256'>

export async function stateOfFile({ module, sha256 }: Pinned): Promise<'as added' | 'changed' | 'missing'> {
  const bytes = await readFile(module).catch(() => undefined)
  if (bytes === undefined) return 'missing'
  return sha256Of(bytes) === sha256 ? 'as added' : 'changed'
}

export async function fileFinding({ module, sha256 }: Pinned): Promise<Finding> {
  const state = await stateOfFile({ module, sha256 })
  if (state === 'as added') return `${module}, as added`
  if (state === 'changed') return fail(`${module} has changed since it was added`, errorCatalogue.PLUGIN_CHANGED.remedy)
  return warn(
    `${module} cannot be read here`,
    'Bring the file to each machine whose processes run without keys. Other processes do not need it.',
  )
}

export async function routeFinding(reader: Pick<Reader, 'hasCode'>, { to, calls }: ConfiguredPlugin['routes'][number]): Promise<Finding> {
  const contracts = [...new Set(calls.flatMap(({ contract, coins }) => [contract, coins?.delivered.contract ?? contract]))]
  const remedy = 'Correct the settings of the plug-in, and run `portage plugin add` again.'
  for (const contract of contracts) if (!(await reader.hasCode(contract))) return fail(`${contract} has no code on this network`, remedy)
  return `${contracts.join(', ')} on ${to}`
}
