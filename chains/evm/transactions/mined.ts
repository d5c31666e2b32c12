import { type AccessListish, Signature, toBeHex, Transaction } from 'ethers'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Intent } from '../../../domain/lane/lane.ts'
import { currentHead } from '../../heads.ts'
import type { MinedTransaction } from '../../port.ts'
import { statesKept } from './accounts.ts'
import type { EvmHeads } from '../heads/heads.ts'
import { readCount, toAddress, toBytes, toDecimal, toHash, toList, toNumber, toQuantity, toRecord } from '../hex.ts'
import { NotKnown, RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Quorum } from '../nodes/quorum.ts'

/** Number of heights that one round reads in parallel. Two rounds suffice for 128 blocks. */
const probes = 15

export function createMined(chain: string, nodes: Nodes, heads: EvmHeads, agree: Quorum) {
  async function findIn(address: string, nonce: number, height: number): Promise<MinedTransaction | undefined> {
    const { transaction } = await agree({
      about: `mined ${address} ${nonce}`,
      method: 'eth_getBlockByNumber',
      params: () => [toQuantity(height), true],
      read: (value) => {
        if (value === null) throw new NotKnown('does not have the block')
        const raw = toRecord(value, 'block')
        const block = { height: toNumber(raw['number'], 'block number'), hash: toHash(raw['hash'], 'block hash') }
        if (block.height !== height || heads.kept.isCanonical(block) === false) throw new NotKnown('not the canonical block')
        const isIt = ({ from, nonce: used }: Record<string, unknown>) =>
          from !== undefined && toAddress(from, 'sender') === address && toNumber(used, 'nonce') === nonce
        const transactions = toList(raw['transactions'], 'transactions').map((transaction) => toRecord(transaction, 'transaction'))
        const found = transactions.find(isIt)
        return { block, transaction: found && { ...readMined(found), block } }
      },
    })
    return transaction
  }

  async function search(address: string, nonce: number, countAt: CountAt): Promise<MinedTransaction | undefined> {
    const { height: latest } = currentHead({ name: chain, heads }).latest
    const now = await countAt(latest)
    // Every node has the state of the head, so a missing count is a refusal.
    if (now === undefined)
      throw new RelayerError('NODE_REFUSED', { detail: "No node returns the account's transaction count.", facts: { chain } })
    if (now <= nonce) return undefined
    try {
      const height = await findHeight(countAt, nonce, latest)
      return height === undefined ? undefined : await findIn(address, nonce, height)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      throw new RelayerError('NODES_DISAGREE', { detail: error.rpcMessage, facts: { chain }, cause: error })
    }
  }

  /** One node searches, and most nodes confirm the transaction that it finds. If it finds none, most nodes search. */
  return async function mined(account: string, nonce: number): Promise<MinedTransaction | undefined> {
    const address = account.toLowerCase()
    const method = 'eth_getTransactionCount'
    const byOne = (height: number) => nodes.request(method, [address, toQuantity(height)], readCount).catch(unlessPruned)
    /** If too few nodes keep the state, one node's count is used: most nodes must confirm the transaction anyway. */
    const byMost = (height: number) => {
      const params = [address, toQuantity(height)]
      return agree({ about: params.join(), method, params: () => params, read: readCount }).catch(() => byOne(height))
    }
    const found = await search(address, nonce, byOne)
    // A chain's only node is not asked a second time, because each step of the search would wait for another block.
    return found ?? (nodes.readers === 1 ? undefined : search(address, nonce, byMost))
  }
}

type CountAt = (height: number) => Promise<number | undefined>

async function findHeight(countAt: CountAt, nonce: number, latest: number): Promise<number | undefined> {
  let spent = latest
  let window = statesKept - 1
  let unspent: number
  for (;;) {
    unspent = Math.max(0, latest - window)
    const count = await countAt(unspent)
    if (count === undefined) return undefined
    if (count <= nonce) break
    spent = unspent
    if (unspent === 0) return undefined
    window *= 8
  }
  while (spent - unspent > 1) {
    const step = Math.max(1, (spent - unspent) / (probes + 1))
    const wanted = Array.from({ length: probes }, (_, index) => Math.round(unspent + step * (index + 1)))
    const heights = [...new Set(wanted)].filter((height) => height > unspent && height < spent)
    const counts = await Promise.all(heights.map((height) => countAt(height)))
    if (counts.includes(undefined)) return undefined
    const first = counts.findIndex((count) => count !== undefined && count > nonce)
    const [below, above] = first < 0 ? [heights.at(-1), spent] : [heights[first - 1] ?? unspent, heights[first]]
    unspent = below ?? unspent
    spent = above ?? spent
  }
  return spent
}

function unlessPruned(error: unknown): undefined {
  if (!(error instanceof RpcError)) throw error
  return undefined
}

function readMined(raw: Record<string, unknown>) {
  const to = raw['to'] == null ? '' : toAddress(raw['to'], 'recipient')
  const call: Intent = { to, data: toBytes(raw['input'] ?? raw['data'], 'data'), value: toDecimal(raw['value'], 'value') }
  return { hash: toHash(raw['hash'], 'transaction hash'), signingHash: signingHashOf(raw), call }
}

/**
 * Hash of the unsigned transaction or, for types that Portage never signs, of the signed one. Throws if the fields do
 * not match the transaction's hash.
 */
export function signingHashOf(raw: Record<string, unknown>): string {
  const hash = toHash(raw['hash'], 'transaction hash')
  const type = raw['type'] == null ? 0 : toNumber(raw['type'], 'transaction type')
  if (type > 2) return hash
  const decimal = (field: string) => BigInt(toDecimal(raw[field], field))
  const v = decimal('v')
  const signature = Signature.from({ r: word(raw['r'], 'r'), s: word(raw['s'], 's'), v: Number(v) })
  const transaction = Transaction.from({
    type,
    chainId: type === 0 ? (v >= 35n ? (v - 35n) / 2n : 0n) : decimal('chainId'),
    nonce: toNumber(raw['nonce'], 'nonce'),
    to: raw['to'] == null ? null : toAddress(raw['to'], 'recipient'),
    data: toBytes(raw['input'] ?? raw['data'], 'data'),
    value: decimal('value'),
    gasLimit: decimal('gas'),
    ...(type === 2
      ? { maxFeePerGas: decimal('maxFeePerGas'), maxPriorityFeePerGas: decimal('maxPriorityFeePerGas') }
      : { gasPrice: decimal('gasPrice') }),
    ...(type > 0 && { accessList: (raw['accessList'] ?? []) as AccessListish }),
    signature,
  })
  const sender = transaction.from?.toLowerCase()
  if (transaction.hash !== hash || sender !== toAddress(raw['from'], 'sender')) throw new TypeError('not the transaction of this hash')
  return transaction.unsignedHash
}

function word(value: unknown, what: string): string {
  return toBeHex(BigInt(toDecimal(value, what)), 32)
}
