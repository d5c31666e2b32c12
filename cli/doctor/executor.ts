import { executorAbi } from '../../bridges/executor/event.ts'
import { type ContractReader, read } from '../../bridges/kit/contract-reader.ts'
import { createQuoteSigner } from '../../chains/registry.ts'
import { executorOf, type ExecutorSettings } from '../../config/executor.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { withChains } from '../arguments/subjects.ts'
import { keyFindings } from './chains.ts'
import { targetChecks } from './executor-targets.ts'
import { type Check, fail, type Finding, look, orError } from './check.ts'

const area = 'bridge executor'

export async function checkExecutor(config: Config): Promise<Check[]> {
  const settings = executorOf(config)
  if (!settings) return []
  const key = look(area, `key of ${settings.quoter}`, () => checkQuoter(settings))
  return withChains(config, async (readers) => {
    const contracts = [...settings.chains].map(([id, { name, contract }]) => {
      const reader = readers.get(name)!
      return look(area, `contract on ${name}`, () => reader.connect().then(() => contractFinding(reader, contract, id)))
    })
    const targets = [...settings.chains.values()].flatMap((target) => {
      const reader = readers.get(target.name)!
      return targetChecks(reader, target, config).map(([name, check]) =>
        look(area, `${name} on ${target.name}`, () => reader.connect().then(check)),
      )
    })
    return Promise.all([key, ...contracts, ...targets])
  })
}

/** Makes the key sign, but only bytes that are not a quote. */
export async function checkQuoter({ quoter, signer }: Pick<ExecutorSettings, 'quoter' | 'signer'>): Promise<Finding> {
  if (!signer) return 'not on this machine'
  await (
    await createQuoteSigner(signer, quoter)
  )(Buffer.from('portage doctor'))
  return keyFindings[signer.kind]
}

export async function contractFinding(reader: ContractReader, contract: string, expected: number): Promise<Finding> {
  const remedy = 'Correct contract of this chain: no request of another contract is found.'
  const answer = await orError(read(reader, { abi: executorAbi, to: contract, method: 'ourChain' }), 'NODE_REFUSED')
  if (answer instanceof RelayerError) return fail(`${contract} is no Executor: ${answer.about}`, remedy)
  const [actual] = answer
  return Number(actual) === expected ? contract : fail(`${contract} belongs to Wormhole chain ${actual}, not ${expected}`, remedy)
}
