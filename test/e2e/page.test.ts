import { resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { knownChromium } from '../../lab/browser/find-chromium.ts'
import { makeToken } from '../../lab/devnet/access.ts'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { pauseSignal, resumeSignal } from '../../temporal/contracts/lane.ts'
import { deadConfig, openApi } from '../api/setting.ts'
import { chooseHiddenCode, inaccessible, outward, overflow, replaceLinks } from '../helpers/page-checks.ts'
import { ledgerId, type Sent } from '../helpers/e2e.ts'
import { explorer, narrow, type PageStage, part, startPageStage } from '../helpers/e2e-page.ts'

const chromium = knownChromium()
if (chromium === undefined)
  process.stderr.write('NOT RUN: test/e2e/page.test.ts (it needs Chromium: apt-get install chromium, or CHROMIUM names one)\n')

/** An attacker may have written such a text into a reason. */
const hostile = '<img src=x onerror=alert(1)><b>rotate</b>'

/** All tests share one network. The lane of bsc is paused at first. */
describe.skipIf(chromium === undefined)('The page', { timeout: 240_000 }, () => {
  let on: PageStage
  let stage: PageStage['stage']
  let portage: PageStage['portage']
  let parked: Sent

  const token: PageStage['token'] = (...given) => on.token(...given)
  const open: PageStage['open'] = (...given) => on.open(...given)
  const handIn: PageStage['handIn'] = (...given) => on.handIn(...given)
  const ledger = () => stage.client.workflow.getHandle(ledgerId(stage.devnet, 'bsc'))

  beforeAll(async () => {
    on = await startPageStage(chromium ?? '')
    ;({ stage, portage } = on)
  })
  afterEach(() => on?.closePages())
  afterAll(() => on?.close())

  test('the page asks for a token, and says what is wrong with a malformed or refused token', async () => {
    const page = await open()
    const field = page.getByRole('textbox', { name: 'Token' })
    await field.fill('not a token')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('This is not a token of Portage').waitFor()
    expect(await inaccessible(page)).toEqual([])
    const expired = await makeToken({ dataFolder: resolve(stage.devnet.dir, 'other-keys') }, { level: 'read' })
    await field.fill(expired)
    await field.press('Enter')
    await page.getByText('ACCESS_TOKEN_INVALID').waitFor()
    await field.fill(await token('read'))
    await field.press('Enter')
    await part(page, 'Stuck').waitFor()
    expect(await page.evaluate(`[localStorage.length, document.cookie, location.href.includes('eyJ')]`)).toEqual([0, '', false])
    await page.getByRole('button', { name: 'Forget token' }).click()
    await field.waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })

  test('each part of the page says that there is nothing, while there is nothing', async () => {
    const page = await open({ token: await token('read') })
    await part(page, 'Parked transfers').getByText('No transfer is parked').waitFor()
    await part(page, 'Flow between chains').getByText('No transfer is open').waitFor()
    await page.locator('#connection').getByText('live').waitFor()
    const titles = await page.getByRole('heading', { level: 2 }).allTextContents()
    expect(titles).toEqual(['Stuck', 'Flow between chains', 'Parked transfers', 'Lanes', 'Streams', 'Nodes'])
    for (const title of titles.slice(1))
      await part(page, title)
        .getByText(/^read (now|\d+ s ago)$/)
        .waitFor()
  })

  test('the page shows a paused lane with the command that resumes it, and shows foreign text as text', async () => {
    const page = await open({ token: await token('read') })
    await ledger().signal(pauseSignal, { order: { by: 'night-shift', reason: hostile } })
    parked = await handIn(0.001)
    await stage.reaches(parked.id, 'parked')
    const lanes = part(page, 'Lanes')
    await lanes.getByText('paused', { exact: true }).waitFor()
    await lanes.getByText(hostile).waitFor()
    const stuck = part(page, 'Stuck')
    await stuck.getByText('LANE_PAUSED').first().waitFor()
    await stuck
      .getByText(/^portage lane resume /)
      .first()
      .waitFor()
    expect(await page.locator('img, b:text-is("rotate")').count()).toBe(0)
  })

  test('the page lists parked transfers with reasons, and says what an insufficient token lacks', async () => {
    const page = await open({ token: await token('read') })
    const row = part(page, 'Parked transfers').getByRole('row', { name: /ethereum → bsc/ })
    await row.getByText('DEADLINE_PASSED').waitFor()
    await row.getByRole('button', { name: /^Retry/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('that of the-read is of level read').waitFor()
    expect(await dialog.getByLabel(/^Reason/).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })

  test('the page sends an order by keys alone, with a name and a reason, and shows its result by itself', async () => {
    const page = await open({ token: await token('write') })
    await ledger().signal(resumeSignal, { order: { by: 'night-shift', reason: 'keys are in place' } })
    await expect.poll(async () => (await stage.lane('bsc')).paused).toBeUndefined()
    const button = part(page, 'Parked transfers').getByRole('button', { name: /^Retry \d/ })
    await button.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Retry')
    await page.keyboard.press('Enter')
    await dialog.getByLabel(/^Reason/).waitFor()
    expect(await inaccessible(page)).toEqual([])
    await page.keyboard.type(hostile)
    await page.keyboard.press('Enter')
    await dialog.getByText('Asked for').waitFor()
    await page.keyboard.press('Escape')
    expect(await stage.outcomes([parked])).toMatchObject([
      {
        state: 'delivered',
        orders: expect.arrayContaining([expect.objectContaining({ kind: 'retry', by: 'the-write', reason: hostile })]),
      },
    ])
    await part(page, 'Parked transfers').getByText('No transfer is parked').waitFor()
    await part(page, 'Flow between chains')
      .getByRole('row', { name: /ethereum to bsc.*1 delivered/ })
      .waitFor()
  })

  test('the page finds a transfer by a part of its id, and shows facts, timeline, attempts and orders', async () => {
    const page = await open({ token: await token('read') })
    const { delivery, timeline } = await stage.status(parked.id)
    await page.getByRole('searchbox').fill(parked.id)
    await page.keyboard.press('Enter')
    const transfer = page.locator('#transfer')
    for (const text of [parked.id, delivery?.txHash ?? 'no hash', timeline[0]?.note ?? 'no note', hostile])
      await transfer.getByText(text, { exact: false }).first().waitFor()
    const signed = transfer.getByRole('table', { name: 'Signed transactions' })
    await signed.getByText('mined').waitFor()
    // The API gives costs in wei. The page must show a readable unit.
    expect(await signed.getByTitle(/^[1-9][0-9]* wei$/).textContent()).toMatch(/^[0-9\u202f]+(\.[0-9]+)? (gwei|BNB)$/)
    expect(await transfer.getByRole('listitem').count()).toBeGreaterThanOrEqual(timeline.length)
    // The config names an explorer for bsc. This Temporal has no Web UI to link to.
    const out = await outward(page)
    expect(out.map(({ href }) => href)).toContain(`${explorer}/tx/${delivery?.txHash}`)
    for (const one of out) {
      expect(one).toEqual({
        href: expect.stringMatching(`^${explorer}/(tx|address)/0x[0-9a-f]+$`),
        rel: 'noopener noreferrer',
        target: '_blank',
      })
    }
    expect(await page.locator('#transfer img').count()).toBe(0)
    await page.goBack()
    await part(page, 'Stuck').waitFor()
    await page.goto(`${portage.apiUrl}/#/transfer/nothing`)
    await transfer.getByText('TRANSFER_NOT_FOUND').waitFor()
  })

  test('the page makes no link of a URL without https, whatever explorer is configured', async () => {
    const page = await open({ token: await token('read') }, `${portage.apiUrl}/#/transfer/${encodeURIComponent(parked.id)}`)
    const { delivery } = await stage.status(parked.id)
    for (const [index, address] of ['javascript:alert(1)//', 'data:,x', 'http://explorer.example', 'https://a:b@x.example'].entries()) {
      // The namespace's new name shows that the page has read the changed links.
      const restore = await replaceLinks(page, `put in its place ${index}`, { bsc: { explorer: address } })
      await page.reload()
      await page.getByText(`put in its place ${index}`).waitFor()
      await page
        .locator('#transfer')
        .getByText(delivery?.txHash ?? 'no hash')
        .first()
        .waitFor()
      expect(await outward(page)).toEqual([])
      await restore()
    }
  })

  test('the page retries all parked transfers of a code after a person confirms their number and a reason', async () => {
    await ledger().signal(pauseSignal, { order: { by: 'night-shift', reason: 'once more' } })
    const many = [await handIn(0.001), await handIn(0.001)]
    for (const { id } of many) await stage.reaches(id, 'parked')
    await ledger().signal(resumeSignal, { order: { by: 'night-shift', reason: 'keys are in place' } })
    await expect.poll(async () => (await stage.lane('bsc')).paused).toBeUndefined()
    const page = await open({ token: await token('write') })
    const list = part(page, 'Parked transfers')
    const listed = async () => {
      const url = `${portage.apiUrl}/v1/transfers?state=parked&code=DEADLINE_PASSED&targetChain=bsc`
      return ((await (await fetch(url, { headers: portage.admin })).json()) as { transfers: object[] }).transfers.length
    }
    await expect.poll(listed).toBe(many.length)
    await expect.poll(() => list.getByRole('row', { name: /ethereum → bsc/ }).count()).toBe(many.length)
    // The filter offers every code, including codes that no listed transfer has.
    await chooseHiddenCode(page, 'DEADLINE_PASSED')
    await list.getByRole('combobox', { name: 'Target' }).selectOption('bsc')
    await list.getByRole('button', { name: 'Retry all of these' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('with the code DEADLINE_PASSED to bsc').waitFor()
    await dialog.getByText('2 would be retried.').waitFor()
    expect(await inaccessible(page)).toEqual([])
    // A token for one chain cannot retry transfers of all chains. The user must choose the chain first.
    const scoped = await open({ token: await token('write', 'desk', ['ethereum']) })
    await part(scoped, 'Parked transfers').getByRole('button', { name: 'Retry all of these' }).click()
    await scoped.getByRole('dialog').getByText('The token of desk is only for ethereum').waitFor()
    expect(await dialog.getByRole('button', { name: 'Retry 2' }).isDisabled()).toBe(true)
    for (const { id } of many) expect(await stage.status(id)).toMatchObject({ state: 'parked' })
    await dialog.getByLabel(/^Reason/).fill('the keys are back')
    await dialog.getByRole('button', { name: 'Retry 2' }).click()
    await dialog.getByText('2 of 2 asked for').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    const orders = expect.arrayContaining([expect.objectContaining({ kind: 'retry', by: 'the-write', reason: 'the keys are back' })])
    expect(await stage.outcomes(many)).toMatchObject(many.map(() => ({ state: 'delivered', orders })))
    await list.getByText('No transfer is parked with this code and target.').waitFor()
  })

  test('the page cancels an open transfer, with a reason', async () => {
    await ledger().signal(pauseSignal, { order: { by: 'night-shift', reason: 'again' } })
    const open1 = await handIn()
    await stage.reaches(open1.id, 'waiting')
    const page = await open({ token: await token('write') }, `${portage.apiUrl}/#/transfer/${encodeURIComponent(open1.id)}`)
    await page.getByRole('button', { name: /^Cancel/ }).click()
    await page.getByLabel(/^Reason/).fill('wrong recipient')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.locator('.transfer-head').getByText('cancelled').waitFor()
    await ledger().signal(resumeSignal)
  })

  test('the page says that its connection is lost, how old its figures are, and goes on afterwards', async () => {
    const page = await open({ token: await token('read') })
    await part(page, 'Lanes').getByRole('row').nth(1).waitFor()
    await page.context().setOffline(true)
    await page.getByRole('alert').getByText('Connection lost').waitFor()
    await page.locator('#connection').getByText('connection lost').waitFor()
    await part(page, 'Lanes').getByText('The data below is older.').waitFor()
    await page.context().setOffline(false)
    await page.locator('#connection').getByText('live').waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await expect.poll(() => page.getByText('The data below is older.').count()).toBe(0)
  })

  test('the page says what is wrong and what to do if Temporal does not answer', async () => {
    const config = deadConfig(await freePort())
    const dead = await openApi(config)
    try {
      const url = `${await dead.bare.listen({ host: '127.0.0.1', port: 0 })}/`
      const page = await open({ token: await dead.token({ level: 'read' }) }, url)
      const lanes = part(page, 'Lanes')
      await lanes.getByText('TEMPORAL_UNAVAILABLE').waitFor()
      await lanes.getByText(errorCatalogue.TEMPORAL_UNAVAILABLE.remedy).waitFor()
      // The page must report the failure of Temporal, not a failure of its own connection to the API.
      expect(await page.getByRole('alert').count()).toBe(0)
      const causes = ['TEMPORAL_UNAVAILABLE', 'CHAIN_UNREACHABLE', 'CHAIN_UNREACHABLE'].map((code) => ({ code }))
      expect((await dead.api.inject('/v1/stuck')).json()).toMatchObject({ stuck: true, causes })
    } finally {
      await dead.close()
    }
  })

  test.each(['light', 'dark'] as const)(
    'the page in its %s colours passes axe, wide and narrow, and never scrolls sideways',
    async (colorScheme) => {
      const page = await open({ token: await token('read'), colorScheme, ...narrow })
      await part(page, 'Lanes').getByRole('row').nth(1).waitFor()
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(colorScheme)
      expect([await overflow(page), await inaccessible(page)]).toEqual([0, []])
      await page.setViewportSize({ width: 1280, height: 900 })
      expect([await overflow(page), await inaccessible(page)]).toEqual([0, []])
      await page.goto(`${portage.apiUrl}/#/transfer/${encodeURIComponent(parked.id)}`)
      await page.getByRole('heading', { name: 'Timeline' }).waitFor()
      expect([await overflow(page), await inaccessible(page)]).toEqual([0, []])
      await page.setViewportSize(narrow.viewport)
      expect(await overflow(page)).toBe(0)
      await page.getByRole('radio', { name: colorScheme === 'light' ? 'Dark' : 'Light' }).check()
      await page.reload()
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(colorScheme === 'light' ? 'dark' : 'light')
    },
  )

  test('the page can be used by keys alone, from the link that skips its head', async () => {
    const page = await open({ token: await token('read') })
    await part(page, 'Lanes').getByRole('row').nth(1).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none')
  })
})
