import { Interface } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { digestOf } from '../../bridges/kit/signed-messages.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import type { PortageOptions } from '../../lab/devnet/portage-process.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { published } from '../../lab/devnet/wormhole/wormhole.ts'
import { wakeTransfer } from '../../temporal/client/transfers/transfers.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const coreAbi = new Interface(['function publishMessage(uint32 nonce, bytes payload, uint8 consistencyLevel) payable returns (uint64)'])

let stage: Stage
let withRoute: Pick<PortageOptions, 'configure'>

beforeAll(async () => {
  stage = await startStage()
  const { ethereum, bsc } = stage.devnet.chains
  const emitter = stage.devnet.outsiders.ethereum.address
  const script = await Script.of(bsc.anvil, stage.devnet.outsiders.bsc)
  const contract = script.deploy(
    'MessageReceiver',
    [bsc.core, ethereum.wormholeChainId, `0x${toUniversal(emitter)}`],
    await compiledArtifact('MessageReceiver'),
  )
  await script.mine()
  const delivered = { view: 'isReceived(bytes32)' }
  const route = { source: 'ethereum', target: 'bsc', emitter, contract, delivered, free: true as const }
  withRoute = { configure: (config) => ({ ...config, bridges: { ...config.bridges, receivers: { routes: [route] } } }) }
})

afterAll(() => stage?.close())

test('a message of a route that the chain process lacks is delivered once it has the new config', async () => {
  const { anvil, core, wormholeChainId } = stage.devnet.chains.ethereum
  const before = await stage.portage({ role: 'chain', name: 'before' })
  const roles = ['ledger', 'lane', 'api'] as const
  const [, , api] = await Promise.all(roles.map((role) => stage.portage({ role, name: role, ...withRoute })))
  const script = await Script.of(anvil, stage.devnet.outsiders.ethereum)
  script.call(core, coreAbi, 'publishMessage', [0, '0x01', 1])
  const [message] = (await script.mine()).flatMap((one) => published(one, core, wormholeChainId))
  const { bytes } = await stage.devnet.guardian.waitFor(wormholeChainId, message!.emitter, message!.sequence)
  await stage.submit(api!, bytes)
  const about = { sourceId: String(wormholeChainId), emitter: message!.emitter, sequence: String(message!.sequence) }
  const id = transferId({ bridge: 'receivers', ...about, digest: digestOf(parseVaa(bytes)) })
  expect(await stage.reaches(id, 'waiting')).toMatchObject({
    code: 'CONFIG_DIFFERS',
    reason: expect.stringContaining('receivers') as string,
  })

  await stage.end(before)
  await stage.portage({ role: 'chain', name: 'after', ...withRoute })
  await wakeTransfer(stage.client, id)
  expect(await stage.reaches(id, 'delivered')).toMatchObject({ delivery: { ours: true } })
})
