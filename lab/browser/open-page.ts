import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/** Only the page is requested, and nothing is kept: the profile is a new folder, which is removed at the end. */
const quiet = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-default-apps', '--disable-dev-shm-usage'],
]

/** Runs in the browser. */
const watchPolicy = `document.addEventListener('securitypolicyviolation', (event) => void sayViolation(event.violatedDirective + ' ' + event.blockedURI))`

/** Starts a browser without a window. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: quiet })
}

/** A page, and what went wrong in it. */
export interface WatchedPage {
  readonly page: Page
  /**
   * Script errors, violations of the page's security policy, and requests to other hosts. Refusals by the server do not
   * count.
   */
  readonly faults: readonly string[]
  close(): Promise<void>
}

/** Opens a page in a profile of its own. @param token entered beforehand, as this tab would keep it */
export async function openPage(
  browser: Browser,
  url: string,
  { token, ...options }: BrowserContextOptions & { readonly token?: string } = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options)
  const faults: string[] = []
  const page = await context.newPage()
  const { origin } = new URL(url)
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // The browser says so of every status above 399, and of what it could not reach; the page shows both.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`request: ${request.url()}`)
  })
  await context.exposeFunction('sayViolation', (what: string) => faults.push(`policy: ${what}`))
  await context.addInitScript({ content: watchPolicy })
  if (token !== undefined) await context.addInitScript({ content: `sessionStorage.setItem('portage-token', ${JSON.stringify(token)})` })
  await page.goto(url)
  return { page, faults, close: () => context.close() }
}
