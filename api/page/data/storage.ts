/** Without storage everything works until the tab is closed. */
export function kept(where: 'session' | 'local', key: string): string {
  try {
    return storage(where).getItem(key) ?? ''
  } catch {
    return ''
  }
}

export function keep(where: 'session' | 'local', key: string, text: string): void {
  try {
    if (text === '') storage(where).removeItem(key)
    else storage(where).setItem(key, text)
  } catch {
    // Without storage the value stays in memory.
  }
}

function storage(where: 'session' | 'local'): Storage {
  return where === 'session' ? sessionStorage : localStorage
}
