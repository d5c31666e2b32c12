// Builds the API's page from api/page/. As a program, builds the page if it is missing, and prints the page's folder.
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolder } from './compile.js'
import { dropOld } from './compiled.js'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Pages here are served unchecked, which is no new risk, because users who can write here can change the packages. */
const cache = join(root, 'node_modules/.cache/portage/page')

/**
 * Builds index.html, icon.svg, page.js and page.css (with preact and uPlot) into a folder.
 * @param {string} folder
 * @returns {Promise<string[]>} the bundled files of packages
 */
export async function buildPage(folder) {
  const { build } = await import('esbuild')
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    entryPoints: { page: join(root, 'api/page/main.tsx') },
    outdir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome109', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'dataurl' },
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
    absWorkingDir: root,
  })
  for (const name of ['index.html', 'icon.svg']) copyFileSync(join(root, 'api/page', name), join(folder, name))
  return Object.keys(metafile.inputs).map((file) => join(root, file))
}

function keyOf() {
  const hash = createHash('sha256')
  // The page bundles files of these folders.
  const files = ['api', 'domain', 'operations/orders'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const places = [...files.filter((name) => /\.\w+$/.test(name)).sort(), 'bin/page.js', 'node_modules/.package-lock.json']
  for (const place of places) hash.update(`${place}\n`).update(readFileSync(join(root, place)))
  return hash.digest('hex').slice(0, 32)
}

/** Returns the folder of the built page. Builds the page if it is missing, which takes a tenth of a second. */
export async function pageFolder() {
  const folder = join(cache, keyOf())
  if (existsSync(folder)) return folder
  await makeFolder(folder, buildPage)
  dropOld(cache)
  return folder
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await pageFolder()}\n`)
