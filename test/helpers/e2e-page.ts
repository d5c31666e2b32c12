import { resolve } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { openBrowser, openPage, type WatchedPage } from '../../lab/browser/open-page.ts'
import { makeToken } from '../../lab/devnet/access.ts'
import type { PortageOptions } from '../../lab/devnet/portage-process.ts'
import { type Sent, startStage } from './e2e.ts'

export const narrow = { viewport: { width: 375, height: 800 } }
/** Explorer of bsc. The other chain has none. */
export const explorer = 'https://explorer.example/bsc'
/** Maximum wait for a change of the page, ms. Eight other suites may use the machine at the same time. */
const patienceMs = 30_000
const coin = { kind: 'coin', amount: 10n ** 17n } as const

/** An intake would start the transfers without their deadline, so the tests submit the messages. */
const configure: PortageOptions['configure'] = ({ bridges: { 'wormhole-token-bridge': wormhole, ...bridges }, chains, ...config }) => ({
  ...config,
  chains: { ...chains, bsc: { ...chains['bsc']!, explorer } },
  bridges: { ...bridges, 'wormhole-token-bridge': { ...wormhole, spies: [], guardianApis: [], wormholescanApis: [] } },
})

export type PageStage = Awaited<ReturnType<typeof startPageStage>>

export async function startPageStage(chromium: string) {
  const [stage, browser] = await Promise.all([startStage({ consistencyLevel: 200 }), openBrowser(chromium)])
  const portage = await stage.portage({ configure })
  const opened: WatchedPage[] = []
  return {
    stage,
    portage,
    token(level: 'read' | 'write' | 'admin', name = `the-${level}`, chains?: readonly string[]): Promise<string> {
      const { dataFolder = '', temporal } = stage.devnet.relayerConfig()
      return makeToken({ dataFolder: resolve(stage.devnet.dir, dataFolder), temporal }, { level, name, ...(chains && { chains }) })
    },
    async open(options: Parameters<typeof openPage>[2] = {}, url = `${portage.apiUrl}/`): Promise<Page> {
      const watched = await openPage(browser, url, options)
      watched.page.setDefaultTimeout(patienceMs)
      opened.push(watched)
      return watched.page
    },
    /** Submits a transfer to bsc through the API. `deadline`: minutes. */
    async handIn(deadline?: number): Promise<Sent> {
      const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
      const response = await fetch(`${portage.apiUrl}/v1/transfers`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json', ...portage.admin } },
        body: JSON.stringify({ vaa: Buffer.from(await stage.vaa(sent)).toString('base64'), ...(deadline !== undefined && { deadline }) }),
      })
      expect(response.status).toBe(202)
      return sent
    },
    /** Closes the pages. Throws the errors of their background work, even if the test passed. */
    async closePages(): Promise<void> {
      const faults = opened.flatMap((one) => one.faults)
      for (const one of opened.splice(0)) await one.close()
      if (faults.length > 0) throw new Error(faults.join('\n'))
    },
    async close(): Promise<void> {
      await browser.close()
      await stage.close()
    },
  }
}

export function part(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true })
}
