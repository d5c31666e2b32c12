import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/** Flags that keep Chromium from sending requests of its own. */
const quiet = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-default-apps', '--disable-dev-shm-usage'],
]

/** This script runs in the browser. */
const watchPolicy = `document.addEventListener('securitypolicyviolation', (event) => void sayViolation(event.violatedDirective + ' ' + event.blockedURI))`

export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: quiet })
}

export interface WatchedPage {
  readonly page: Page
  /** Script errors, violations of the page's security policy, and requests to other hosts. HTTP errors do not count. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

/**
 * Opens a page of a browser and collects its faults. `token` is stored in the tab first, as if a person had entered it.
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
    // The browser logs each failed request. This is not a fault, because the page shows the failure to its user.
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
