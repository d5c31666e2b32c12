import { coinOfChain } from '../../config/networks.ts'
import { groupBy } from '../../domain/group-by.ts'
import { lastPart, shortAddress } from '../../domain/text/short-id.ts'
import { shadowCallOf } from '../../domain/transfer/shadow.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { listTransfers } from '../../temporal/client/transfers/transfer-list.ts'
import { readTransfer } from '../../temporal/client/transfers/transfers.ts'
import { numberWithin } from '../arguments/options.ts'
import type { Call, CommandSpec } from '../command.ts'
import { amountCell, gasPriceCell, list } from '../output/output.ts'

const atOnce = 20
const sum = (values: readonly (string | undefined)[]) => String(values.reduce((all, value) => all + BigInt(value ?? 0), 0n))

export const shadowCommand: CommandSpec = {
  description:
    'The calls that Portage would send to chains in shadow mode: one call for each waiting transfer, and the total cost for each chain.',
  notes: `The command asks each waiting transfer for the figures of its last try. If no worker answers for a transfer, the totals count the transfer, but not its cost.`,
  options: (command) =>
    command
      .option('--chain <name>', 'only this target chain')
      .option('--limit <number>', 'read at most this many transfers, newest first', numberWithin(1, 10_000), 1_000),
  examples: ['portage shadow', 'portage shadow --chain bsc --json'],
  run: ({ withTemporal, options }: Call<{ chain?: string; limit: number }>) =>
    withTemporal(async (client, config) => {
      const filter = { states: ['waiting'], code: 'SHADOW_MODE', targetChain: options.chain, limit: options.limit } as const
      const listed = await listTransfers(client, filter)
      const transfers = await mapLimited(listed, atOnce, async ({ id, targetChain = '' }) => {
        const report = await readTransfer(client, id).catch(() => undefined)
        return { id, chain: targetChain, ...shadowCallOf(report) }
      })
      const chains = [...groupBy(transfers, ({ chain }) => chain)].map(([chain, own]) => {
        const priced = own.filter(({ cost }) => cost !== undefined)
        const [gas, cost] = [sum(own.map(({ gasLimit }) => gasLimit)), sum(own.map((one) => one.cost))]
        return { chain, transfers: own.length, priced: priced.length, gas, cost, coin: coinOfChain(config, chain) }
      })
      const sums = chains.map(({ coin, cost, ...counts }) => ({ ...counts, cost: amountCell(cost, coin) }))
      const rows = transfers.map(({ id, chain, to, selector, gasLimit, maxFee, cost }) => ({
        ...{ id: { full: id, short: lastPart(id) }, chain, to: to && { full: to, short: shortAddress(to) }, selector, gas: gasLimit },
        ...{ 'max fee': gasPriceCell(maxFee), cost: amountCell(cost, coinOfChain(config, chain)) },
      }))
      const text = [list('no transfer waits in shadow mode', sums), ...(rows.length > 0 ? [list('', rows)] : [])]
      return { json: { isLimited: listed.length === options.limit, chains, transfers }, text }
    }),
}
