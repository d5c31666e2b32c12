const marks = { begin: '<!-- contents: npm run docs -->', end: '<!-- end of contents -->' }
const width = 120

/** The headings of a page, in order. Lines of code blocks that begin with `#` are not headings. */
export function headingsOf(page: string) {
  const seen = new Map<string, number>()
  return [...page.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^(#{1,6}) (.+)$/gm)].map(([, hashes = '', text = '']) => {
    const anchor = anchorOf(text)
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return { level: hashes.length, text, anchor: count === 0 ? anchor : `${anchor}-${count}` }
  })
}

/** The page with its table of contents. A page without the marks does not change. */
export function withContents(page: string): string {
  const begin = page.indexOf(marks.begin)
  const end = page.indexOf(marks.end)
  if (begin < 0 || end < begin) return page
  return `${page.slice(0, begin + marks.begin.length)}\n${contentsOf(page)}\n${page.slice(end)}`
}

/** Empty marks, for a page that is wholly generated. */
export const contentsPlace = `${marks.begin}\n${marks.end}`

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
}

function contentsOf(page: string): string {
  const links = headingsOf(page)
    .filter(({ level }) => level === 2)
    .map(({ text, anchor }) => `[${text.replaceAll(/`/g, '')}](#${anchor})`)
  const lines = ['On this page:']
  for (const [index, link] of links.entries()) {
    const item = index === links.length - 1 ? link : `${link} ·`
    if (`${lines.at(-1)} ${item}`.length > width) lines.push(item)
    else lines[lines.length - 1] += ` ${item}`
  }
  return lines.join('\n')
}
