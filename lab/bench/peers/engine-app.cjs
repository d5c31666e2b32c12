// A relayer built on relayer-engine, as the README and the advanced example of relayer-engine show. Loads its packages
// from a separate folder, so it has no types. Reads its settings (settings.ts) from PEER_SETTINGS.
const { createRequire } = require('node:module')
const { join } = require('node:path')

const { spy, sourceChain, sourceBridge, targetChain, targetBridge, targetUrl, keys, window, engine } = JSON.parse(process.env.PEER_SETTINGS)
const load = createRequire(join(engine.folder, 'package.json'))
const { Environment, RelayerApp, RedisStorage, logging, providers, wallets } = load('@wormhole-foundation/relayer-engine')
const { getIsTransferCompletedEth, redeemOnEth } = load('@certusone/wormhole-sdk')
const { Contract, providers: ofEthers } = load('ethers')
const { createLogger, transports } = load('winston')

const tuned = engine.form === 'tuned'
const logger = createLogger({ level: 'error', transports: [new transports.Console()] })
const abi = ['function completeTransfer(bytes vaa)']
const gasLimit = 400_000

/** The wallet waits for the receipt before it takes the next action. */
async function redeem(ctx) {
  const [node] = ctx.providers.evm[targetChain]
  if (await getIsTransferCompletedEth(targetBridge, node, ctx.vaaBytes)) return
  await ctx.wallets.onEVM(targetChain, ({ wallet }) => redeemOnEth(targetBridge, wallet, ctx.vaaBytes))
}

/** The wallet only sends. The job waits for the receipt. */
async function redeemTuned(ctx) {
  const [node] = ctx.providers.evm[targetChain]
  if (await getIsTransferCompletedEth(targetBridge, node, ctx.vaaBytes)) return
  const send = ({ wallet }) => new Contract(targetBridge, abi, wallet).completeTransfer(ctx.vaaBytes, { gasLimit })
  const sent = await ctx.wallets.onEVM(targetChain, send)
  await sent.wait()
}

/**
 * Uses a provider that requests the chain id once instead of with each call, and that polls once per second (the block
 * time) instead of once per 4 s, the default.
 */
function useTunedNode() {
  const node = new ofEthers.StaticJsonRpcProvider(targetUrl)
  node.pollingInterval = 1_000
  return (ctx, next) => {
    ctx.providers.evm[targetChain] = [node]
    return next()
  }
}

async function main() {
  const app = new RelayerApp(Environment.DEVNET)
  const namespace = 'peer'
  const concurrency = tuned ? { concurrency: window * keys.length } : {}
  app.spy(spy)
  app.useStorage(
    new RedisStorage({ attempts: 3, namespace, queueName: 'relays', redis: { host: '127.0.0.1', port: engine.redisPort }, ...concurrency }),
  )
  app.logger(logger)
  app.use(logging(logger))
  app.use(providers({ chains: { [targetChain]: { endpoints: [targetUrl] } } }, [String(targetChain)]))
  if (tuned) app.use(useTunedNode())
  app.use(wallets(Environment.DEVNET, { logger, namespace, privateKeys: { [targetChain]: keys } }))
  app.chain(sourceChain).address(sourceBridge, tuned ? redeemTuned : redeem)
  await app.listen()
}

void main()
