import type { Devnet } from '../index.ts'
import { devnetTokenFeeWei } from '../relayer-config.ts'
import type { SentTransfer, UserTransfer } from '../users.ts'
import { transferKinds } from '../users.ts'

type Source = 'ethereum' | 'bsc'

/** Transfers that one direction sends in one go at a time: what fits into a few blocks. */
const burst = 200

/**
 * Users' transfers, in turn from both chains and of every kind (wrapAndTransferETH, transferTokens, and each back home), to fresh recipients;
 * the ERC20s always with a fee, since the fee table asks for one, the coins with and without in turn.
 */
export async function sendTransfers(
  devnet: Devnet,
  plan: { readonly transfers: number; readonly rate: number },
  onSent: (sent: readonly SentTransfer[]) => void,
): Promise<SentTransfer[]> {
  const wanted = Array.from({ length: plan.transfers }, (_, index) => ({ source: sourceOf(index), transfer: transferOf(index) }))
  const all: SentTransfer[] = []
  const send = async (source: Source, transfers: readonly UserTransfer[]) => {
    const sent = await devnet.users[source].send(transfers)
    all.push(...sent)
    onSent(sent)
  }
  if (plan.rate === 0) {
    await Promise.all(
      (['ethereum', 'bsc'] as const).map(async (source) => {
        const own = wanted.filter((one) => one.source === source).map((one) => one.transfer)
        for (let from = 0; from < own.length; from += burst) await send(source, own.slice(from, from + burst))
      }),
    )
    return all
  }
  const sending: Promise<void>[] = []
  for (const { source, transfer } of wanted) {
    sending.push(send(source, [transfer]))
    await new Promise((resolve) => setTimeout(resolve, 1000 / plan.rate))
  }
  await Promise.all(sending)
  return all
}

function sourceOf(index: number): Source {
  return index % 2 === 0 ? 'ethereum' : 'bsc'
}

/** The `index`-th transfer of a run: every kind in turn, with a fee where one is asked for, to a fresh recipient. */
export function transferOf(index: number): UserTransfer {
  const turn = Math.floor(index / 2)
  const kind = transferKinds[turn % transferKinds.length] ?? 'coin'
  const withFee = kind.startsWith('token') || Math.floor(turn / transferKinds.length) % 2 === 0
  // Small and all different, so that no two balances can be mistaken for each other.
  const amount = 10n ** 16n + BigInt(index) * 10n ** 12n
  return { kind, amount, ...(withFee && { fee: devnetTokenFeeWei }) }
}
