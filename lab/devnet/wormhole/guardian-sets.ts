import { concat, toBeHex, zeroPadValue } from 'ethers'
import type { DevnetAccount } from '../chain/accounts.ts'
import { artifact, Script } from '../chain/contracts.ts'
import { governance, signVaa } from './vaa.ts'
import type { WormholeChain } from './wormhole.ts'

/** Seconds for which the contracts still accept a replaced guardian set (Setters.sol, expireGuardianSet). */
const expiryS = 86_400

/** Governance payload of a new guardian set, for every chain (Governance.sol, parseGuardianSetUpgrade). */
function upgradePayload(setIndex: number, guardians: readonly DevnetAccount[]): string {
  const module = zeroPadValue(toBeHex(BigInt('0x436f7265')), 32) // "Core"
  return concat([module, '0x02', '0x0000', toBeHex(setIndex, 4), toBeHex(guardians.length, 1), ...guardians.map(({ address }) => address)])
}

/**
 * Replaces the guardian set of a chain. The previous set signs the upgrade. The chain's clock moves forward by a day,
 * so that the previous set expires immediately.
 */
export async function upgradeGuardians(chain: WormholeChain, guardians: readonly DevnetAccount[], setIndex: number): Promise<void> {
  const message = {
    timestamp: 0,
    vaaNonce: 0,
    emitterChain: governance.chain,
    emitter: governance.emitter,
    sequence: BigInt(1_000 + setIndex),
    consistencyLevel: 1,
    payload: upgradePayload(setIndex, guardians),
  }
  const script = await Script.of(chain.anvil, chain.deployer)
  script.call(chain.core, artifact('Implementation').abi, 'submitNewGuardianSet', [
    signVaa(message, guardians, undefined, setIndex - 1).bytes,
  ])
  await script.mine()
  await chain.anvil.rpc('evm_increaseTime', [expiryS + 1])
  await chain.anvil.rpc('evm_mine')
}
