import { Interface } from 'ethers'
import type { Config } from '../config/schema/schema.ts'
import type { Intent } from '../domain/intent.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import { withChain } from './arguments/chains.ts'
import { invalid } from './arguments/options.ts'

const erc20 = new Interface(['function transfer(address, uint256)', 'function balanceOf(address)'])

/**
 * A call that sends the whole balance of an ERC-20 token. Throws INPUT_INVALID if the balance is 0 or no token answers.
 */
export function sweepToken(
  config: Config,
  name: ChainName,
  { from, to, token }: { readonly from: string; readonly to: string; readonly token: string },
): Promise<Intent> {
  return withChain(config, name, async (chain) => {
    const answer = await chain.call(token, erc20.encodeFunctionData('balanceOf', [from]), 'latest')
    if (!/^0x[0-9a-f]{64}$/i.test(answer)) throw invalid('no ERC-20 token answers', { token })
    const balance = BigInt(answer)
    if (balance === 0n) throw invalid('the lane has none of this token', { token })
    return { to: token, data: erc20.encodeFunctionData('transfer', [to, balance]), value: '0' }
  })
}
