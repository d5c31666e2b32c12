import { id } from 'ethers'
import { describe, expect, test } from 'vitest'
import { wormholeTokenBridgeSchema } from '../../config/bridge-schema.ts'
import { createBridges } from '../../bridges/registry.ts'
import { createEvmChain, createSigner } from '../../chains/evm/index.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { startWeb3Signer } from '../../lab/devnet/signing/web3signer.ts'
import { createLogger } from '../../observability/logger.ts'
import { openSigner, signingPolicy } from '../../workers/signer.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const [bridge, redeemer, treasury, token] = ['a', 'b', 'c', 'd'].map(address) as [string, string, string, string]
const [mine, other] = [devnetAccount(3), devnetAccount(4)]
const lanes = [mine, other].map((account) => ({ address: account.address, window: 16 }))
const selector = (signature: string) => id(signature).slice(0, 10)
const complete = ['completeTransfer(bytes)', 'completeTransferAndUnwrapETH(bytes)'].map(selector)

describe('what the key of a lane may sign', () => {
  const chain = createEvmChain({
    name: 'here',
    networkId: 1,
    nodes: [{ url: 'http://127.0.0.1:1' }],
    finality: { kind: 'instant' },
    blockTimeMs: 1000,
  })
  const bridges = createBridges(
    {
      chains: { here: { networkId: 1, wormholeChainId: 2, contracts: { core: address('e'), tokenBridge: bridge } } },
      bridges: { 'wormhole-token-bridge': wormholeTokenBridgeSchema.parse({ calls: { here: { [redeemer]: 'redeem(bytes)' } } }) },
    },
    new Map([['here', chain]]),
  )
  const endpoints = [...bridges.values()].map((one) => one.endpoint('here'))

  test('by default: the calls of its bridges, coins to the other lanes', () => {
    expect(signingPolicy({ lanes }, { address: mine.address }, endpoints)).toEqual({
      calls: { [bridge]: complete, [redeemer]: [selector('redeem(bytes)')] },
      coinPayees: [other.address],
      tokens: [],
      tokenPayees: [],
    })
  })

  test('with a treasury and a list of its own: those', () => {
    const allow = { [redeemer]: ['0x12345678'] }
    expect(signingPolicy({ lanes, treasury: { address: treasury, tokens: [token] } }, { address: mine.address, allow }, endpoints)).toEqual(
      {
        calls: allow,
        coinPayees: [treasury, other.address],
        tokens: [token],
        tokenPayees: [treasury],
      },
    )
  })
})

describe('a signing service that is not there when a process starts', () => {
  const policy = { calls: {}, coinPayees: [], tokens: [], tokenPayees: [] }
  const noop = { networkId: '1', nonce: 0, to: mine.address, data: '0x', value: '0', gasLimit: '21000', maxFee: '2', tip: '1' }
  const logger = createLogger({ level: 'silent' })

  test('is asked again with every signature', async () => {
    const port = await freePort()
    const spec = { kind: 'remote' as const, url: `http://127.0.0.1:${port}`, timeoutMs: 10_000 }
    const signer = await openSigner(mine.address, () => createSigner(spec, mine.address, policy), logger)
    await expect(signer.sign(noop)).rejects.toMatchObject({ code: 'SIGNER_OFFLINE', retriable: true })
    const service = await startWeb3Signer([mine], port)
    try {
      expect((await signer.sign(noop)).signingHash).toMatch(/^0x/)
      await expect(signer.sign({ ...noop, to: other.address })).rejects.toMatchObject({ code: 'SIGNING_REFUSED' })
    } finally {
      await service.stop()
    }
  })

  test('a key that it does not have ends the start', async () => {
    const service = await startWeb3Signer([other])
    try {
      const spec = { kind: 'remote' as const, url: service.url, timeoutMs: 10_000 }
      await expect(openSigner(mine.address, () => createSigner(spec, mine.address, policy), logger)).rejects.toMatchObject({
        code: 'SIGNER_UNAVAILABLE',
      })
    } finally {
      await service.stop()
    }
  })
})
