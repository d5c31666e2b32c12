import { readFileSync } from 'node:fs'
import { AbiCoder, computeAddress, concat, id, keccak256, SigningKey } from 'ethers'
import fc from 'fast-check'
import { executorAbi, readRequest } from '../../bridges/executor/event.ts'
import { judge } from '../../bridges/executor/judge.ts'
import { encodeQuote } from '../../bridges/executor/quote.ts'
import { completedTopic, initiatedTopic, transfersIn } from '../../bridges/native-bridge/events.ts'
import { readMessage as readNative, writeMessage, idOf } from '../../bridges/native-bridge/message.ts'
import { explainRevert as explainNative } from '../../bridges/native-bridge/reverts.ts'
import { readNttMessage } from '../../bridges/ntt/message.ts'
import { publishedIn } from '../../bridges/kit/published.ts'
import { tokenBridgeMessages } from '../devnet/wormhole/token-bridge-messages.ts'
import { explainRevert as explainWormhole } from '../../bridges/wormhole-token-bridge/reverts.ts'
import { readBlock } from '../../chains/evm/heads/blocks.ts'
import { parseAnswers, readError } from '../../chains/evm/nodes/json-rpc.ts'
import { readReceipt } from '../../chains/evm/transactions/receipts.ts'
import { decodeReason } from '../../chains/evm/transactions/simulate.ts'
import { parseConfig } from '../../config/load/load.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { fromSettingsCheckpoint } from '../../domain/settings/checkpoint.ts'
import { assertSettingsOrders } from '../../domain/settings/request.ts'
import { applySettingsOrders, noSettings } from '../../domain/settings/settings.ts'
import { fromCheckpoint } from '../../domain/stream/checkpoint.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import { applyToStream, initialStream } from '../../domain/stream/reducer.ts'
import { retryAfterMs } from '../../runtime/http/retry-after.ts'
import { messageBytes } from '../../intake/submit/message-bytes.ts'
import { parseCheckpoint } from '../../intake/streams/checkpoints.ts'
import { decodeVaa as decode, goodNtt, goodPayload as payload, goodPlace, goodVaa as vaa } from './good-vaa.ts'
import { nearly, nearlyBytes, nearlyText, orLong, orLongBytes } from './arbitraries.ts'
import { cctpTargets } from './cctp-targets.ts'
import { fileTargets } from './file-targets.ts'
import { type FuzzTarget, isTyped, namesField, target } from './fuzz.ts'
import { textTargets } from './text-targets.ts'

const address = `0x${'ab'.repeat(20)}`
const hash = `0x${'cd'.repeat(32)}`
const coder = AbiCoder.defaultAbiCoder()
const never = () => false
const { emitter } = goodPlace
const bytesOf = (hex: string) => Buffer.from(hex, 'hex')

const transfer = { initiator: address, recipient: hash, amount: 5n, nonce: 7n }
const native = writeMessage({ ...transfer, id: idOf(transfer), sourceNetworkId: 1337n, sourceBridge: address })

const block = {
  number: '0x5',
  hash,
  parentHash: hash,
  timestamp: '0x65',
  baseFeePerGas: '0x7',
  transactions: [hash],
  gasLimit: '0x1c9c380',
}
const log = { address, topics: [hash, hash], data: '0x1234' }
const receipt = {
  ...{
    transactionHash: hash,
    status: '0x1',
    blockNumber: '0x5',
    blockHash: hash,
    from: address,
    gasUsed: '0x5208',
    effectiveGasPrice: '0x1',
  },
  logs: [log],
}
const rpcAnswer = [{ jsonrpc: '2.0', id: 1, result: '0x1', error: { code: 3, message: 'execution reverted: x', data: '0x08c379a0' } }]

function chainWith(topics: readonly string[], data: string) {
  const place = { height: 5, hash }
  return {
    name: 'fuzz',
    call: () => Promise.reject(new Error('not asked')),
    logs: () => Promise.resolve([{ address, topics, data, block: place, index: 0, transactionHash: hash } as never]),
    block: () => Promise.resolve({ ...place, parentHash: hash, timestamp: 1_700_000_000 } as never),
  }
}
const source = { core: address, sourceChain: 'ethereum', emitterChain: 2, emitter }
const decodeAll = tokenBridgeMessages(new Map([[4, 'bsc']])).decode
const publishedTopics = [id('LogMessagePublished(address,uint64,uint32,bytes,uint8)'), `0x${emitter}`]
const publishedData = bytesOf(coder.encode(['uint64', 'uint32', 'bytes', 'uint8'], [7, 0, `0x${payload}`, 1]).slice(2))
const range = { fromBlock: 0, toBlock: 9 }
const words = (name: string) => [
  id(`${name}(bytes32,address,bytes32,uint256,uint256)`),
  hash,
  `0x${address.slice(2).padStart(64, '0')}`,
  hash,
]

const quoter = new SigningKey(`0x${'01'.repeat(32)}`)
const quoterAddress = computeAddress(quoter.publicKey).toLowerCase()
const quote = encodeQuote({
  ...{ quoter: quoterAddress, payee: '00'.repeat(32), sourceChain: 2, targetChain: 4, expiry: 9n },
  ...{ baseFee: 1n, gasPrice: 1n, sourcePrice: 1n, targetPrice: 1n },
})
const requested = executorAbi.encodeEventLog('RequestForExecution', [
  ...[quoterAddress, 10n ** 9n, 4, `0x${address.slice(2).padStart(64, '0')}`, address],
  concat([quote, quoter.sign(keccak256(quote)).serialized]),
  `0x4552563100020000${'ab'.repeat(38)}`,
  `0x01${'5'.padStart(32, '0')}${'0'.repeat(32)}`,
])
const caps = { maxGasLimit: 10n, maxMsgValue: 10n, maxGasDropOff: 10n }
const executorTerms = {
  quoter: quoterAddress,
  honourExpired: false,
  chains: new Map([[4, { caps, receivers: {}, prefixes: ['ERV1' as const] }]]),
}

const reverts = [
  concat(['0x08c379a0', coder.encode(['string'], ['transfer already completed'])]),
  concat(['0x4e487b71', coder.encode(['uint256'], [0x11])]),
]
const example = readFileSync(new URL('../../config/portage.example.yaml', import.meta.url), 'utf8')
const yamlPieces = [
  '&a ',
  '*a',
  '<<: ',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  ': ',
  '- ',
  '\t',
  '!!binary ',
  '!x ',
  '${A}',
  '${',
  '|\n',
  '>\n',
  '%',
  '---\n',
  '\u0000',
  '99999999999999999999',
  '.inf',
  '.nan',
  '-1',
  '0x',
  'null',
  '__proto__: ',
  'constructor: ',
  '? ',
  '#',
  '\n',
  '\r',
]
const env = { ETHEREUM_RPC_URL: 'https://a.example', AVALANCHE_RPC_URL: 'https://b.example', A: 'SECRETsecret' }

const given = { by: 'me', reason: 'why', at: 5 }
const orders = {
  by: 'me',
  reason: 'why',
  orders: [
    { kind: 'halt', scope: { bridge: 'native-bridge', chain: 'bsc' } },
    { kind: 'deny', what: 'recipient', value: `bsc/${address}` },
    { kind: 'allow', what: 'token', value: `2/${'0'.repeat(64)}` },
    {
      kind: 'setFees',
      scope: { kind: 'call', chain: 'bsc', contract: address, selector: '0x12345678' },
      policy: { maxTip: '1', gasFactor: 2 },
    },
    { kind: 'setNode', change: { chain: 'bsc', name: 'spare', disabled: false, url: 'https://node.example/v3/${KEY}', use: 'read' } },
    { kind: 'revokeToken', jti: 'a-1' },
  ],
}
const settings = {
  version: 3,
  halts: [{ scope: { chain: 'bsc' }, ...given }],
  denied: [{ kind: 'recipient', value: address, ...given }],
  fees: [{ scope: { kind: 'global' }, policy: { maxTip: '5' } }],
  nodes: [{ chain: 'bsc', name: 'spare', disabled: true }],
  tokens: [{ jti: 'a-1', revoked: given }],
  audit: [],
}
const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 0, maxOpen: 10 }
const checkpoint = {
  ...{ version: 1, stream: config.stream, origin: config.origin, completedNumber: '7', completedHeight: 9, cursor: { height: 9, hash } },
  exceptions: [{ number: '9', outcome: 'skipped', by: 'me', reason: 'why', at: 1 }],
}
const update = {
  requests: [
    { kind: 'seen', numbers: [['1', 5], ['4']], delivered: [['1', '1']], ignored: [] },
    { kind: 'scanned', from: 1, to: 9, parentHash: hash, hash, numbers: [['2', 5]], passed: [] },
    { kind: 'audited', upTo: '20', height: 9, present: [['3', '5']] },
    { kind: 'trust', number: '5', height: 3, by: 'me' },
    { kind: 'completed', numbers: [['2', '3']], from: 1, to: 5 },
    { kind: 'skip', number: '6', by: 'me', reason: 'why' },
  ],
}

/**
 * Applies a request's orders to the settings. No order may fail, and a second application of the same orders must not
 * change the numbers of halts, denials and nodes.
 */
function obey(request: unknown): void {
  assertSettingsOrders(request as never)
  const once = applySettingsOrders(noSettings, request as never, 5)
  const twice = applySettingsOrders(once, request as never, 6)
  const [before, after] = [once, twice].map(({ halts, denied, nodes }) => JSON.stringify([halts.length, denied.length, nodes.length]))
  if (before !== after) throw new Error(`the same orders made ${before} and then ${after}`)
}

/** Readers of input from strangers, nodes, operators and files. They need no server. */
export const targets: readonly FuzzTarget[] = [
  target('vaa', orLongBytes(nearlyBytes(vaa), vaa), (hex) => decode(bytesOf(hex))),
  target('ntt-message', orLongBytes(nearlyBytes(bytesOf(goodNtt)), bytesOf(goodNtt)), (hex) => {
    const message = readNttMessage(bytesOf(hex), 2)
    if (!message) throw new RelayerError('PAYLOAD_KIND')
  }),
  target('native-message', orLongBytes(nearlyBytes(native), native), (hex) => readNative(bytesOf(hex))),
  target(
    'message-encoding',
    orLong(fc.oneof(nearlyText(vaa.toString('base64'), ['\n', '=', '-', '_', '0x', ' ', '%']), fc.string()), vaa.toString('base64')),
    messageBytes,
  ),
  target('node-block', nearly(block), readBlock),
  target('node-receipt', nearly(receipt), readReceipt),
  target(
    'node-answers',
    orLong(
      fc.oneof(
        nearly(rpcAnswer).map((one) => JSON.stringify(one)),
        nearlyText(JSON.stringify(rpcAnswer), ['{', ']', '"', ',']),
      ),
      '[{"result":',
    ),
    (text) => parseAnswers(text, 1),
    never,
  ),
  target('node-error', nearly(rpcAnswer[0]!.error), (error) => readError(error, (text) => text)),
  target(
    'retry-after',
    orLong(fc.oneof(fc.string(), fc.constantFrom('1', '-1', '1e999', '9'.repeat(400), 'Wed, 21 Oct 2099 07:28:00 GMT'))),
    (text) => retryAfterMs(text, 0),
    never,
  ),
  target('published-log', nearlyBytes(publishedData), (hex) =>
    publishedIn(chainWith(publishedTopics, `0x${hex}`), source, range, { decode: decodeAll, wanted: () => true }),
  ),
  target(
    'published-topics',
    nearly(publishedTopics),
    (topics) =>
      Array.isArray(topics) &&
      topics.every((one) => typeof one === 'string') &&
      publishedIn(chainWith(topics, `0x${publishedData.toString('hex')}`), source, range, { decode: decodeAll, wanted: () => true }),
  ),
  target('initiated-log', nearlyBytes(bytesOf(coder.encode(['uint256', 'uint256'], [5, 7]).slice(2))), (hex) =>
    transfersIn(chainWith(words('BridgeTransferInitiated'), `0x${hex}`), address, initiatedTopic, range),
  ),
  target('completed-log', nearlyBytes(bytesOf(coder.encode(['address', 'uint256', 'uint256'], [address, 5, 7]).slice(2))), (hex) =>
    transfersIn(
      chainWith([id('BridgeTransferCompleted(bytes32,bytes32,address,uint256,uint256)'), hash, hash], `0x${hex}`),
      address,
      completedTopic,
      range,
    ),
  ),
  target('executor-log', nearlyBytes(bytesOf(requested.data.slice(2))), (hex) => {
    const request = readRequest({ name: 'fuzz' }, { address, topics: requested.topics, data: `0x${hex}` })
    return judge(request, 2, { requestedAt: 1, now: 2 }, executorTerms)
  }),
  ...reverts.map((data, index) =>
    target(
      `revert-${index}`,
      orLongBytes(nearlyBytes(bytesOf(data.slice(2))), bytesOf(data.slice(2))),
      (hex) => {
        const revert = { data: `0x${hex}`, reason: 'as the node says' }
        return [explainNative(revert), explainWormhole(revert), decodeReason(revert.data)]
      },
      never,
    ),
  ),
  target(
    'config',
    orLong(nearlyText(example, yamlPieces), 'namespace: '),
    (text) => parseConfig(text, env, 'fuzz.yaml'),
    (error) => isTyped(error) && !(error as Error).message.includes('SECRETsecret'),
  ),
  target('settings-orders', nearly(orders), obey, namesField),
  target(
    'settings-checkpoint',
    nearly({ version: 1, namespace: 'default', at: 5, settings }),
    (value) => fromSettingsCheckpoint(value, 'default'),
    namesField,
  ),
  target(
    'stream-checkpoint',
    nearly(checkpoint),
    (value) => fromCheckpoint(config, parseCheckpoint(config.stream, JSON.stringify(value ?? null))),
    (error) => isTyped(error) || namesField(error),
  ),
  target(
    'stream-update',
    nearly(update),
    (value) => {
      assertStreamUpdate(value)
      for (const one of [config, { ...config, placed: true as const }]) applyToStream(initialStream(one), value, 5)
    },
    namesField,
  ),
  ...cctpTargets,
  ...textTargets,
  ...fileTargets,
]
