import { isShownName, type Problem } from './problems.ts'
import { type Chains, checkChain, type Fields, map, maps, unless } from './raw-tree.ts'
import { either, highestPayment, weiIn as number } from './coin-checks.ts'

export function checkExecutor({ quoter, chains: own }: Fields, chains: Chains): Problem[] {
  const path = 'bridges.executor'
  const key = map(quoter)['address']
  const named = Object.entries(map(own)).filter(([name]) => isShownName(name))
  const lanes = [...chains].flatMap(([name, { lanes }]) =>
    maps(lanes).map((lane, index) => ({ place: `chains.${name}.lanes[${index}]`, ...lane })),
  )
  const same = lanes.find(({ address }: Fields) => typeof key === 'string' && String(address).toLowerCase() === key.toLowerCase())
  return [
    ...unless(own === undefined || named.length > 1, `${path}.chains`, 'has fewer than two chains', 'Add the chains of requests.'),
    ...unless(!same, `${path}.quoter.address`, `is the key of ${same?.place}`, 'Use a key that does not sign transactions.'),
    ...named.flatMap(([name, fields]) => checkExecutorChain(`${path}.chains.${name}`, name, map(fields), chains)),
  ]
}

/** Finds settings with which a payer could buy an impossible delivery. */
function checkExecutorChain(path: string, name: string, fields: Fields, chains: Chains): Problem[] {
  const chain = chains.get(name)
  if (!chain) return checkChain(path, name, chains)
  const { wormholeChainId, contracts, shadow, lanes, signing } = chain
  const at = `chains.${name}`
  const missing = `is missing, and ${path} needs it`
  const signed = number(map(signing)['maxGasPerTransaction'], '16777216')
  const paid = highestPayment(chain)
  const [gas, value, dropOff] = [number(fields['maxGasLimit']), number(fields['maxMsgValue']), number(fields['maxGasDropOff'])]
  const payer = 'needs a dropOffContract or a recordContract, which pays it'
  const isPaid = dropOff === 0n || payers.some((field) => fields[field] !== undefined)
  return [
    ...unless(wormholeChainId !== undefined, `${at}.wormholeChainId`, missing, "Add Wormhole's number of the chain."),
    ...unless(contracts !== undefined, `${at}.contracts`, missing, 'Add the core contract of the chain.'),
    ...unless(shadow !== true, `${at}.shadow`, 'means that paid requests are not delivered', `Remove it, or ${path}.`),
    ...unless(maps(lanes).length > 0, `${at}.lanes`, 'is empty, so paid requests are not delivered', `Add a lane, or remove ${path}.`),
    ...unless(gas <= signed, `${path}.maxGasLimit`, `is above ${at}.signing.maxGasPerTransaction`, either),
    ...unless(value <= paid, `${path}.maxMsgValue`, `is above ${at}.signing.maxPaymentWei`, either),
    ...unless(dropOff <= value, `${path}.maxGasDropOff`, 'is above maxMsgValue, which includes it', 'Lower it.'),
    ...unless(isPaid, `${path}.maxGasDropOff`, payer, 'Add the contract, or remove the cap.'),
  ]
}

const payers = ['dropOffContract', 'recordContract', 'nttDropOffContract', 'cctpV1DropOffContract', 'cctpV2DropOffContract']
