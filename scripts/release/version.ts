import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { changesOf, released } from './changelog.ts'

/** The text before the version in each file that names it. Each text must occur. */
const places: Readonly<Record<string, readonly RegExp[]>> = {
  'package.json': [/^ {2}"version": "/m],
  'package-lock.json': [/^ {2}"version": "/m, /^ {4}"": \{\n {6}"name": "[^"]*",\n {6}"version": "/m],
  Dockerfile: [/^ARG BUILD_ID=/m, /^#.* --tag portage:/m],
  'docker-compose.temporal.yml': [/\bportage:(?=\d)/],
  'deploy/helm/portage/Chart.yaml': [/^version: /m, /^appVersion: /m],
  'deploy/helm/values/small.yaml': [/^ {2}tag: /m],
  'deploy/helm/values/fleet.yaml': [/^ {2}tag: /m],
  'docs/operate/deploy/image.md': [/^docker build --tag portage:/m, /^docker run --rm portage:/m],
}
const changelog = 'CHANGELOG.md'

/**
 * Writes a version into all files that name it, and dates the unreleased part of CHANGELOG.md. Can be repeated. Throws
 * Error and writes nothing if the version is invalid or released, or if a file has no place for it.
 */
export async function setVersion(root: string, version: string, day: string): Promise<void> {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) throw new Error(`${version} is not a version like 1.2.3`)
  const texts = await Promise.all(
    [...Object.keys(places), changelog].map(async (file) => [file, await readFile(join(root, file), 'utf8')] as const),
  )
  const current = (JSON.parse(texts[0]?.[1] ?? '') as { version: string }).version
  const next = texts.map(
    ([file, text]) => [file, file === changelog ? changes(text, version, day, current) : withVersion(file, text, version)] as const,
  )
  // package.json is first and CHANGELOG.md last, so that an interrupted run can be repeated.
  for (const [file, text] of next) await writeFile(join(root, file), text)
}

function withVersion(file: string, text: string, version: string): string {
  return (places[file] ?? []).reduce((before, place) => {
    const whole = new RegExp(`(${place.source})\\d[\\w.-]*`, place.flags)
    if (!whole.test(before)) throw new Error(`${file} has no version where it should be: ${place.source}`)
    return before.replace(whole, (_, start: string) => `${start}${version}`)
  }, text)
}

/**
 * The changelog with its unreleased part moved under the version. Unchanged if the version is the current one, the
 * changelog already has the changes of this version, and nothing was added since.
 */
function changes(text: string, version: string, day: string, current: string): string {
  const isRepeated = version === current && changesOf(text, version) !== '' && changesOf(text, 'Unreleased') === ''
  return isRepeated ? text : released(text, version, day)
}
