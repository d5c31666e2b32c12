import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const rules = JSON.stringify(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])

/** Violations of WCAG 2.2 A and AA that axe-core finds in the page, with the elements. */
export async function inaccessible(page: Page): Promise<string[]> {
  // The page's policy allows no script but its own, so the debugger runs axe-core.
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
  const found = await page.evaluate<readonly Found[]>(`axe.run({ runOnly: ${rules} }).then(({ violations }) => violations)`)
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`)
}

interface Found {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}

export function outward(page: Page): Promise<readonly { readonly href: string; readonly rel: string; readonly target: string }[]> {
  const links = '[...document.links].filter((one) => one.protocol !== location.protocol || one.host !== location.host)'
  return page.evaluate(`${links}.map(({ href, rel, target }) => ({ href, rel, target }))`)
}

/** Replaces the explorers and the namespace in the API's answers, until the returned function is called. */
export async function replaceLinks(page: Page, namespace: string, changed: Readonly<Record<string, object>>): Promise<() => Promise<void>> {
  await page.route('**/v1/links', async (route) => {
    const { chains } = (await (await route.fetch()).json()) as { chains: Record<string, object> }
    const others = Object.fromEntries(Object.entries(chains).map(([name, chain]) => [name, { ...chain, ...changed[name] }]))
    await route.fulfill({ json: { namespace, chains: others } })
  })
  return () => page.unrouteAll({ behavior: 'wait' })
}

/** Reloads the page with a list of transfers without codes, and chooses `code` in the filter. */
export async function chooseHiddenCode(page: Page, code: string): Promise<void> {
  await page.route(
    ({ pathname, search }) => pathname === '/v1/transfers' && search === '?state=parked&limit=100',
    async (route) => {
      const { transfers, ...answer } = (await (await route.fetch()).json()) as { transfers: object[] }
      await route.fulfill({ json: { ...answer, transfers: transfers.map((row) => ({ ...row, code: undefined })) } })
    },
  )
  await page.reload()
  const list = page.getByRole('region', { name: 'Parked transfers' })
  await list.getByText('see its page').first().waitFor()
  await list.getByRole('combobox', { name: 'Code' }).selectOption(code)
  await page.unrouteAll({ behavior: 'wait' })
}
