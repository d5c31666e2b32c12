import { expect, test } from 'vitest'
import { knownChromium } from '../../lab/browser/find-chromium.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { narrow, part, startPageStage } from '../helpers/e2e-page.ts'
import { inaccessible, overflow } from '../helpers/page-checks.ts'

const chromium = knownChromium()
if (chromium === undefined)
  process.stderr.write('NOT RUN: test/e2e/page-transfers.test.ts (it needs Chromium: apt-get install chromium, or CHROMIUM names one)\n')

const chooseAtOnce = `for (const [name, label] of [['State', 'delivered'], ['Age', 'under 1 day']]) {
  const select = [...document.querySelectorAll('#transfers select')].find((one) => one.closest('label').textContent.startsWith(name))
  select.selectedIndex = [...select.options].findIndex((option) => option.text === label)
  select.dispatchEvent(new Event('change', { bubbles: true }))
}`

test.skipIf(chromium === undefined)(
  'each count of transfers links to their list, and the filter is in the address',
  { timeout: 240_000 },
  async () => {
    const on = await startPageStage(chromium ?? '')
    cleanUp(() => on.close())
    const delivered = await on.handIn()
    await on.stage.outcomes([delivered])
    const page = await on.open({ token: await on.token('read') })
    await part(page, 'Flow between chains').getByRole('link', { name: '1 delivered' }).click()
    const list = part(page, 'Transfers')
    const row = list.getByRole('row', { name: /ethereum → bsc/ })
    await row.getByText('delivered').waitFor()
    expect(page.url()).toContain('state=delivered&bridge=wormhole-token-bridge&sourceChain=ethereum&targetChain=bsc')
    await row.getByText('0.1', { exact: true }).waitFor()
    const { delivery } = await on.stage.status(delivered.id)
    await row.getByTitle(delivery?.txHash ?? 'no hash').waitFor()
    expect(await inaccessible(page)).toEqual([])
    // Choose only with the keyboard, because the focus must stay where it is when the new list appears.
    await list.getByRole('combobox', { name: 'State' }).focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await list.getByText('No transfer matches this filter.').waitFor()
    expect(page.url()).toContain('state=open')
    expect(await page.evaluate('document.activeElement.value')).toBe('open')
    await list.getByRole('button', { name: 'wormhole-token-bridge ×' }).click()
    await page.goBack()
    await page.goBack()
    await row.getByText('delivered').waitFor()
    await list.getByRole('combobox', { name: 'Age' }).selectOption('over 1 day')
    await list.getByText('No transfer matches this filter.').waitFor()
    await list.getByRole('combobox', { name: 'Age' }).selectOption('under 1 h')
    await list.getByRole('combobox', { name: 'Lane' }).selectOption({ index: 0 })
    await row.getByText('delivered').waitFor()
    // Both choices are made before the page is drawn again. Neither may be lost.
    await page.evaluate(chooseAtOnce)
    expect(page.url()).toContain('state=delivered')
    expect(page.url()).toContain('newerThan=1d')
    await page.setViewportSize(narrow.viewport)
    expect([await overflow(page), await inaccessible(page)]).toEqual([0, []])
    await row.getByRole('link').first().click()
    const transfer = page.locator('#transfer')
    for (const name of ['Amount', 'Token', 'Recipient']) await transfer.getByText(name, { exact: true }).waitFor()
    await page.goto(`${on.portage.apiUrl}/#/transfers?lane=nothing`)
    await list.getByText('INPUT_INVALID').waitFor()
    await on.closePages()
  },
)
