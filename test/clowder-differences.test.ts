import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import test from 'ava'

const root = new URL('../', import.meta.url)
const docs = new URL('docs/', root)
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8')

const page = await read('docs/clowder-differences.md')
const [differences = '', additions = ''] = page.split(/^## Additions$/m)

const names = (await readdir(new URL('decisions/', docs))).filter(name => /^\d{4}-.*\.md$/.test(name)).sort()
const records = await Promise.all(names.map(async name => ({ name, text: await read(`docs/decisions/${name}`) })))

/** The anchor that a heading has on a page. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')

const sections = '\\[[^\\]]+\\]\\(#[\\w-]+\\)(?:, \\[[^\\]]+\\]\\(#[\\w-]+\\))*'
const relationLine = new RegExp(
  `^Clowder v1: (?:no difference|differs(?: in ${sections})?(?:; adds(?: ${sections})?)?|adds(?: ${sections})?)$`,
)

/** The relation in the last line of a record; undefined if there is none, or more than one. */
const relationOf = (text: string): string | undefined => {
  const lines = text.match(/^Clowder v1:.*$/gm) ?? []
  const [line = ''] = lines
  return lines.length === 1 && relationLine.test(line) && text.endsWith(`${line}\n`) ? line.slice('Clowder v1: '.length) : undefined
}

/** Sections of records that differ or add, in the form of the page's links (`0014-search.md#titles`; a whole record has no anchor). */
const sectionsThat = (relation: 'differs' | 'adds'): readonly string[] =>
  records
    .flatMap(({ name, text }) => {
      const part = relationOf(text)
        ?.split('; ')
        .find(each => each.startsWith(relation))
      if (part === undefined) return []
      const anchors = all(part, /\]\((#[\w-]+)\)/g)
      return anchors.length === 0 ? [name] : anchors.map(anchor => `${name}${anchor}`)
    })
    .sort()

const all = (text: string, pattern: RegExp): readonly string[] => [...text.matchAll(pattern)].map(([, found = '']) => found)
const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort()
const linkedSections = (text: string): readonly string[] => distinct(all(text, /\]\(decisions\/([^)]+)/g))

interface Row {
  readonly heading: readonly string[]
  readonly cells: readonly string[]
}

const cellsOf = (line: string): readonly string[] =>
  line
    .slice(1, -1)
    .split('|')
    .map(cell => cell.trim())

/** The rows of all tables in a text; a table starts with its header and a line of dashes. */
const rowsOf = (text: string): readonly Row[] => {
  const lines = text.split('\n')
  let heading: readonly string[] = []
  return lines.flatMap((line, at) => {
    if (!line.startsWith('|') || line.startsWith('|-')) return []
    if (lines[at + 1]?.startsWith('|-')) {
      heading = cellsOf(line)
      return []
    }
    return [{ heading, cells: cellsOf(line) }]
  })
}
const rows = rowsOf(differences)

/** Settings by name, with their choices if limited. */
const settings = new Map(
  (await read('docs/configuration.md')).split('\n').flatMap(line => {
    const [, name, , value = ''] = /^\| `([\w.-]+)` \|( [^|]*\|)([^|]*)\|/.exec(line) ?? []
    return name === undefined ? [] : [[name, all(value, /`([^`]+)`/g)] as const]
  }),
)
const roots = new Set([...settings.keys()].filter(name => name.includes('.')).map(name => name.split('.')[0] ?? ''))

const code = (text: string): readonly string[] => all(text, /`([^`]+)`/g)

test('every record ends with a line that states its relation to Clowder v1', t => {
  t.true(records.length > 25)
  t.deepEqual(
    records.filter(({ text }) => relationOf(text) === undefined).map(({ name }) => name),
    [],
    'See docs/decisions/README.md: the last line is `Clowder v1: no difference`, or names the sections that differ or add; each has a row in docs/clowder-differences.md',
  )
})

test('the last table of the page links exactly the sections that add, the other tables those that differ', t => {
  t.true(sectionsThat('differs').length > 40)
  t.deepEqual(linkedSections(differences), sectionsThat('differs'))
  t.deepEqual(linkedSections(additions), sectionsThat('adds'))
})

test('every difference states the behaviour of v1 and Pounce, the reason, the setting and the source', t => {
  t.true(rows.length > 100)
  for (const { heading, cells } of rows) {
    t.deepEqual(heading, ['What', 'Clowder v1', 'Pounce', 'Why', 'Setting', 'Source'])
    t.is(cells.length, heading.length, cells.join(' | '))
    t.false(cells.includes(''), cells.join(' | '))
    t.regex(cells.at(-1) ?? '', /^(\[[^\]]+\]\([^)]+\)|reference: (api-data|api-platform|extraction) §\d.*)$/, cells[0])
  }
  const whats = rows.map(({ cells }) => cells[0])
  t.is(new Set(whats).size, whats.length)
})

test('every setting named on the page exists and accepts the value given there', t => {
  const offered = rows.flatMap(({ cells }) => code(cells[4] ?? ''))
  t.true(offered.length > 20)
  for (const each of offered) {
    const [name = '', value] = each.split(': ')
    const choices = settings.get(name)
    t.truthy(choices, `${name} is not a setting`)
    if (value !== undefined && choices && choices.length > 0) t.true(choices.includes(value), `${name} does not accept ${value}`)
  }
  const others = code(page)
    .map(text => text.split(': ')[0] ?? '')
    .filter(text => /^[a-z]+(\.[\w-]+)+$/.test(text) && roots.has(text.split('.')[0] ?? ''))
  t.deepEqual(
    others.filter(name => !settings.has(name)),
    [],
  )
  const plain = rows.map(({ cells }) => cells[4] ?? '').filter(cell => cell !== '–' && code(cell).length === 0)
  t.deepEqual(plain, [], 'settings are formatted as code; a cell without one contains –')
})

test('every route that the page names exists', async t => {
  const { paths } = JSON.parse(await read('docs/openapi.json')) as { paths: Record<string, Record<string, unknown>> }
  const shape = (path: string): string => path.replace(/[:{]\w+\}?/g, ':')
  const known = new Set(
    Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map(method => `${method.toUpperCase()} ${shape(path)}`)),
  )
  const named = code(page).filter(text => /^([A-Z]+ )?\/\w/.test(text))
  t.true(named.length > 30)
  t.deepEqual(
    named.filter(text => !known.has(shape(text))),
    [],
    'routes are written as METHOD /path/:id',
  )
})

test('every file and heading that the page links exists', t => {
  const links = all(page, /\]\(([^)]+)\)/g)
  const headings = new Set(all(page, /^## (.+)$/gm).map(heading => `#${anchorOf(heading)}`))
  t.deepEqual(
    links.filter(link => !(link.startsWith('#') ? headings.has(link) : existsSync(new URL(link.split('#')[0] ?? '', docs)))),
    [],
  )
  t.deepEqual(
    code(page).filter(text => text.startsWith('test/') && !existsSync(new URL(text, root))),
    [],
  )
})
