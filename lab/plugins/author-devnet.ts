import { concat, Interface } from 'ethers'
import type { AuthorDevnet } from '../../bridges/kit/plugin.ts'
import { accountIndex, devnetAccount } from '../devnet/chain/accounts.ts'
import { type Artifact, Script } from '../devnet/chain/contracts.ts'
import { compiledArtifact } from '../devnet/chain/solidity.ts'
import type { UserSide } from '../devnet/wormhole/users.ts'

const publish = new Interface(['function publishMessage(uint32 nonce, bytes payload, uint8 consistencyLevel) payable returns (uint64)'])

/**
 * The devnet that the functions `deploy` and `send` of a plug-in's author receive. It sends from one account per chain.
 */
export function authorDevnet(sides: readonly UserSide[]): AuthorDevnet {
  const sideOf = (name: string) => {
    const position = sides.findIndex((one) => one.name === name)
    const side = sides[position]
    if (!side) throw new Error(`The devnet has no chain ${name}; it has ${sides.map((one) => one.name).join(' and ')}`)
    return { side, account: devnetAccount(accountIndex.outsider + position) }
  }
  const script = (name: string) => Script.of(sideOf(name).side.anvil, sideOf(name).account)
  return {
    chains: Object.fromEntries(
      sides.map(({ name, anvil: { url }, wormholeChainId, core, tokenBridge }) => [name, { url, wormholeChainId, core, tokenBridge }]),
    ) as AuthorDevnet['chains'],
    account: (chain) => sideOf(chain).account.address,
    async deploy(chain, contract, args = []) {
      const compiled: Artifact =
        typeof contract === 'string'
          ? await compiledArtifact(contract)
          : { abi: new Interface(contract.abi as string[]), bytecode: concat([contract.bytecode]) }
      const of = await script(chain)
      const address = of.deploy(typeof contract === 'string' ? contract : 'the contract', args, compiled)
      await of.mine()
      return address
    },
    async call(chain, contract, signature, args = [], value = 0n) {
      const of = await script(chain)
      of.call(contract, new Interface([`function ${signature}`]), signature.slice(0, signature.indexOf('(')), args, value)
      await of.mine()
    },
    async publish(chain, payload) {
      const of = await script(chain)
      of.call(sideOf(chain).side.core, publish, 'publishMessage', [0, payload, 1])
      await of.mine()
    },
  }
}
