import { createStore, keep, kept } from './store.ts'

const themes = ['light', 'dark'] as const
type Theme = (typeof themes)[number]
export type ThemeChoice = Theme | 'system'

const key = 'portage-theme'
const system = matchMedia('(prefers-color-scheme: dark)')

export const themeChoice = createStore<ThemeChoice>(themes.find((one) => one === kept('localStorage', key)) ?? 'system')
export const theme = createStore<Theme>('light')

export function chooseTheme(choice: ThemeChoice): void {
  keep('localStorage', key, choice)
  themeChoice.set(choice)
  show()
}

show()
system.addEventListener('change', show)

function show(): void {
  const choice = themeChoice.get()
  const shown = choice === 'system' ? (system.matches ? 'dark' : 'light') : choice
  document.documentElement.dataset['theme'] = shown
  theme.set(shown)
}
