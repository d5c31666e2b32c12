/** Takes pictures of the page for the README (docs/images), with the traffic of the demo. Needs Chromium. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { laneId } from '../domain/lane/lane.ts'
import { knownChromium } from '../lab/browser/find-chromium.ts'
import { openBrowser, openPage } from '../lab/browser/open-page.ts'
import { sendTransfers } from '../lab/demo/load.ts'
import { makeToken } from '../lab/devnet/access.ts'
import { type Devnet, startDevnet } from '../lab/devnet/index.ts'
import { type PortageProcess, startPortage } from '../lab/devnet/portage-process.ts'
import { until } from '../lab/devnet/until.ts'

const images = fileURLToPath(new URL('../docs/images', import.meta.url))
const shots = [
  { name: 'page-light', colorScheme: 'light', viewport: { width: 1280, height: 900 }, fullPage: true },
  { name: 'page-dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 }, fullPage: true },
  { name: 'page-375', colorScheme: 'light', viewport: { width: 375, height: 812 }, fullPage: false },
] as const

async function main(): Promise<void> {
  const chromium = knownChromium()
  if (chromium === undefined) throw new Error('There is no Chromium: apt-get install chromium, or CHROMIUM names one.')
  const dir = await mkdtemp(join(tmpdir(), 'portage-screenshots-'))
  const devnet = await startDevnet({ native: 'fixed', keysPerChain: 1, blockTimeSeconds: 0.5, dir, auditMinutes: 0.1, inMemory: true })
  try {
    const portage = await startPortage(devnet)
    try {
      await showTraffic(devnet, portage)
      await takeAll(devnet, portage, chromium)
    } finally {
      await portage.stop(15_000)
    }
  } finally {
    await devnet.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

/** Fills the charts with a minute of deliveries, then pauses the lane of bsc and sends transfers that wait. */
async function showTraffic(devnet: Devnet, portage: PortageProcess): Promise<void> {
  const send = (transfers: number) => sendTransfers(devnet, { transfers, rate: 2, bridge: 'both' }, () => {})
  await send(100)
  const delivered = async () => {
    const response = await fetch(`${portage.apiUrl}/v1/transfers?state=delivered&limit=100`, { headers: portage.admin })
    return ((await response.json()) as { transfers: object[] }).transfers.length
  }
  await until(async () => (await delivered()) === 100, { timeoutMs: 300_000, everyMs: 500, what: '100 deliveries' })
  for (const { chain, address } of devnet.lanes) {
    if (chain !== 'bsc') continue
    const paused = await fetch(`${portage.apiUrl}/v1/lanes/${laneId('evm', devnet.chains.bsc.anvil.chainId, address)}/pause`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json', ...portage.admin } },
      body: JSON.stringify({ reason: 'the key moves to another machine' }),
    })
    if (!paused.ok) throw new Error(await paused.text())
  }
  await send(20)
}

async function takeAll(devnet: Devnet, portage: PortageProcess, chromium: string): Promise<void> {
  const { dataFolder = '', temporal } = devnet.relayerConfig()
  const token = await makeToken({ dataFolder: resolve(devnet.dir, dataFolder), temporal }, { name: 'night-shift', level: 'write' })
  await mkdir(images, { recursive: true })
  const browser = await openBrowser(chromium)
  try {
    for (const { name, fullPage, ...options } of shots) {
      const { page, faults, close } = await openPage(browser, `${portage.apiUrl}/`, { token, ...options })
      await page.getByRole('radio', { name: '5 min' }).check()
      await page.getByText('LANE_PAUSED').first().waitFor()
      await page.locator('#flow').getByText('waiting').first().waitFor()
      // Waits for a lane and a node of each chain, and for the streams of each bridge.
      for (const [id, rows] of Object.entries({ lanes: 2, streams: 4, nodes: 2 }))
        await until(async () => (await page.locator(`#${id} tbody tr`).count()) >= rows, { timeoutMs: 30_000, what: `all ${id}` })
      await page.locator('#connection').getByText('live').waitFor()
      await page.screenshot({ path: join(images, `${name}.png`), fullPage })
      if (faults.length > 0) throw new Error(faults.join('\n'))
      await close()
    }
  } finally {
    await browser.close()
  }
}

await main()
