import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/** The browser requests nothing but the page. */
const quiet = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-default-apps', '--disable-dev-shm-usage'],
]

/** This script runs in the browser. */
const watchPolicy = `document.addEventListener('securitypolicyviolation', (event) => void sayViolation(event.violatedDirective + ' ' + event.blockedURI))`

/** Starts a headless browser. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: quiet })
}

/** An open page with its errors. */
export interface WatchedPage {
  readonly page: Page
  /**
   * Script errors, violations of the page's security policy, and requests to other hosts. An HTTP error of the server
   * does not count.
   */
  readonly faults: readonly string[]
  close(): Promise<void>
}

/**
 * Opens a page in a new profile.
 * @param token stored in the tab beforehand, as if a person had entered it
 */
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
    // Ignore failed requests: the browser logs every status above 399 and every failed connection, and the page shows
    // both.
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
