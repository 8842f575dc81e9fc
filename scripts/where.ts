import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** A source location: a file relative to the root and a line, starting at 1. */
export interface Place {
  readonly file: string
  readonly line: number
}

/**
 * Source locations of a URL, a setting or a message: `GET /api/datasets/5f…`, `http.maxConnections`, `POUNCE_HTTP__PORT`, or the text of an error or
 * log line. Empty if nothing matches.
 */
export const where = async (text: string): Promise<readonly Place[]> => {
  const trimmed = text.trim()
  if (/^(?:[A-Z]+ )?(?:https?:\/\/[^/]+)?\//.test(trimmed)) return await whereUrl(trimmed)
  const setting = settingName(trimmed)
  return setting === undefined ? await whereMessage(trimmed) : await whereSetting(setting)
}

const whereUrl = async (text: string): Promise<readonly Place[]> => {
  const [, method, path = ''] = /^(?:([A-Z]+) )?(?:https?:\/\/[^/]+)?([^?#]*)/.exec(text) ?? []
  const page = await readFile(join(root, 'docs/routes.md'), 'utf8')
  const rows = page.split('\n').filter(line => line.startsWith('| `'))
  const addressed = rows.flatMap(row => {
    const [, file = '', line = ''] = /\]\(\.\.\/([^#)]+)#L(\d+)\)/.exec(row) ?? []
    return addressesOf(row).map(address => ({ ...address, place: { file, line: Number(line) } }))
  })
  const fitting = addressed.filter(each => (method === undefined || each.method === method) && matches(each.path, path))
  const fixed = Math.max(0, ...fitting.map(each => fixedParts(each.path)))
  return distinct(fitting.filter(each => fixedParts(each.path) === fixed).map(each => each.place))
}

/** The method and path of a row and of its aliases. */
const addressesOf = (row: string): readonly { readonly method: string; readonly path: string }[] => {
  const [, method = '', path = ''] = /^\| `([A-Z]+)` \| `([^`]+)`/.exec(row) ?? []
  const aliases = [...row.matchAll(/`([A-Z]+) (\/[^`]*)`/g)].map(([, of = '', at = '']) => ({ method: of, path: at }))
  return [{ method, path }, ...aliases]
}

const matches = (declared: string, path: string): boolean => {
  const parts = declared.split('/')
  const given = path.replace(/(?<=.)\/$/, '').split('/')
  return parts.length === given.length && parts.every((part, at) => part.startsWith(':') || part === given[at])
}

const fixedParts = (path: string): number => path.split('/').filter(part => !part.startsWith(':')).length

/** The dotted name of a setting given in this form or as an environment variable; undefined for any other text. */
const settingName = (text: string): string | undefined => {
  if (/^POUNCE_[A-Z0-9_]+$/.test(text)) return text.replace(/_FILE$/, '')
  return /^[a-z][\w-]*(?:\.[\w-]+)*$/.test(text) ? text : undefined
}

const whereSetting = async (name: string): Promise<readonly Place[]> => {
  const page = await readFile(join(root, 'docs/configuration.md'), 'utf8')
  const row = page.split('\n').find(line => line.startsWith(`| \`${name}\` |`) || line.includes(`| \`${name}\` |`))
  const setting = /^\| `([^`]+)`/.exec(row ?? '')?.[1]
  if (setting === undefined) return []
  const parts = setting.split('.')
  const folder = join('plugins', ...parts.slice(0, 2))
  const sources = await sourcesIn(globSync(`${folder}/index.ts`, { cwd: root }).length > 0 ? folder : 'core')
  const lines = linesOf(sources, line => new RegExp(`^\\s+['"]?${parts.at(-1)}['"]?: s\\.`).test(line))
  return lines.length > 0 ? lines : linesOf(sources, line => new RegExp(`\\b${parts.at(-1)}: `).test(line)).slice(0, 3)
}

/** Of the string literals that can produce the text, the three with the longest fixed parts. */
const whereMessage = async (text: string): Promise<readonly Place[]> => {
  const sources = [...(await sourcesIn('core')), ...(await sourcesIn('plugins')), ...(await sourcesIn('sdk'))]
  const found = sources.flatMap(({ file, lines }) =>
    lines.flatMap((line, at) =>
      [...line.matchAll(/'((?:[^'\\]|\\.){8,})'|`((?:[^`\\]|\\.){8,})`/g)].flatMap(([, plain, template]) => {
        const fixed = (plain ?? template ?? '').split(/\$\{(?:[^{}]|\{[^{}]*\})*\}/).map(part => part.replaceAll(/\\(.)/g, '$1'))
        const length = fixed.join('').trim().length
        return length >= 8 && isMadeOf(text, fixed) ? [{ file, line: at + 1, length }] : []
      }),
    ),
  )
  const best = found.sort((one, other) => other.length - one.length).map(({ file, line }) => ({ file, line }))
  return distinct(best).slice(0, 3)
}

/** Whether the text contains the parts in this order. */
const isMadeOf = (text: string, pieces: readonly string[]): boolean => {
  let at = 0
  return pieces.every(piece => {
    const found = text.indexOf(piece, at)
    at = found + piece.length
    return found >= 0
  })
}

interface Source {
  readonly file: string
  readonly lines: readonly string[]
}

const sourcesIn = async (folder: string): Promise<readonly Source[]> => {
  const files = globSync(`${folder}/**/*.ts`, { cwd: root }).filter(file => !/\.test\.ts$|\/(?:testing|fixtures)\//.test(file))
  return await Promise.all(files.sort().map(async file => ({ file, lines: (await readFile(join(root, file), 'utf8')).split('\n') })))
}

const linesOf = (sources: readonly Source[], fits: (line: string) => boolean): readonly Place[] =>
  sources.flatMap(({ file, lines }) => lines.flatMap((line, at) => (fits(line) ? [{ file, line: at + 1 }] : [])))

const distinct = (places: readonly Place[]): readonly Place[] => [
  ...new Map(places.map(place => [`${place.file}:${place.line}`, place])).values(),
]

if (import.meta.main) {
  const text = process.argv.slice(2).join(' ')
  const places = text === '' ? [] : await where(text)
  for (const { file, line } of places) process.stdout.write(`${file}:${line}\n`)
  if (places.length === 0) {
    process.stderr.write('Not found. Usage: npm run where -- "GET /api/datasets/:id" | http.port | "the text of a message"\n')
    process.exitCode = 1
  }
}
