import { keep, kept } from './storage.ts'
import { createStore } from './store.ts'

export type Theme = 'light' | 'dark'
/** The choice of the reader. system: as the browser. */
export type ThemeChoice = Theme | 'system'

const key = 'portage-theme'
const system = matchMedia('(prefers-color-scheme: dark)')

export const themeChoice = createStore<ThemeChoice>(stored())
/** The theme on the page. */
export const theme = createStore<Theme>('light')

/** Stored for the next visit: it is no secret. */
export function chooseTheme(choice: ThemeChoice): void {
  keep('local', key, choice)
  themeChoice.set(choice)
  show()
}

/** Applies the theme, now and when the system's changes. */
export function startTheme(): void {
  show()
  system.addEventListener('change', show)
}

function show(): void {
  const choice = themeChoice.get()
  const shown = choice === 'system' ? (system.matches ? 'dark' : 'light') : choice
  document.documentElement.dataset['theme'] = shown
  theme.set(shown)
}

function stored(): ThemeChoice {
  const text = kept('local', key)
  return text === 'light' || text === 'dark' ? text : 'system'
}
