import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import test from 'ava'

const root = new URL('../', import.meta.url)
const folder = new URL('docs/decisions/', root)
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8')

const names = (await readdir(folder)).filter(name => name !== 'README.md').sort()
const records = new Map(await Promise.all(names.map(async name => [name, await read(`docs/decisions/${name}`)] as const)))

const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  )

test('every record has its number, a date and a status, and is listed with them in the index', async t => {
  const index = await read('docs/decisions/README.md')
  t.deepEqual(
    [...index.matchAll(/^\| \[\d{4}\]\(([^)]+)\)/gm)].map(([, name]) => name),
    names,
  )
  for (const [name, text] of records) {
    const [, number, title] = /^# (\d{4}): (.+)$/m.exec(text) ?? []
    const [, date, status] = /^Date: (\d{4}-\d\d-\d\d)\. Status: (accepted|superseded)/m.exec(text) ?? []
    t.is(number, name.slice(0, 4), name)
    t.true(index.includes(`| [${number}](${name}) | ${title} | ${date} | ${status} |`), name)
  }
  t.is(new Set(names.map(name => name.slice(0, 4))).size, names.length)
})

test('every record fits on a page and states context, decision, consequences and what would change our mind', t => {
  for (const [name, text] of records) {
    const headings = new Set([...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading))
    for (const heading of ['Context', 'Decision', 'Consequences', 'What would change our mind'])
      t.true(headings.has(heading), `${name}: ${heading}`)
    t.true(text.split(/\s+/).length < 1000, name)
  }
  t.true(records.size <= 31)
})

test('every link to a record leads to an existing record and heading', async t => {
  const { stdout } = await promisify(execFile)(
    'git',
    ['grep', '-IhoE', '(decisions/|[(])[0-9]{4}-[a-z0-9-]+[.]md(#[a-z0-9_-]+)?', '--', ':!CHANGELOG.md'],
    {
      cwd: root,
      maxBuffer: 1 << 24,
    },
  )
  const links = [...new Set(stdout.trim().split('\n'))].map(link => link.replace(/^(decisions\/|\()/, ''))
  t.true(links.length > 60)
  t.deepEqual(
    links.filter(link => {
      const [name = '', anchor] = link.split('#')
      const text = records.get(name)
      return text === undefined || (anchor !== undefined && !anchorsOf(text).has(anchor))
    }),
    [],
  )
})

test('sections that a record lists as different from Clowder v1 exist', t => {
  for (const [name, text] of records) {
    const [line = ''] = /^Clowder v1:.*$/m.exec(text) ?? []
    for (const [, anchor = ''] of line.matchAll(/\(#([\w-]+)\)/g)) t.true(anchorsOf(text).has(anchor), `${name}#${anchor}`)
  }
})

test('every record number mentioned in code and documents exists', async t => {
  const { stdout } = await promisify(execFile)(
    'git',
    ['grep', '-IhoE', '([Dd]ecisions?|[Rr]ecords?|docs/decisions/) ?0[0-9]{3}', '--', ':!CHANGELOG.md'],
    { cwd: root },
  )
  const numbers = new Set(names.map(name => name.slice(0, 4)))
  const mentioned = stdout.trim().split('\n')
  t.deepEqual(
    mentioned.filter(each => !numbers.has(each.slice(-4))),
    [],
  )
})

test('the records about dependencies name every package, and the index of records exists', async t => {
  const record = ['0002-dependencies-and-own-code.md', '0044-parts-and-viewers.md'].map(name => records.get(name) ?? '').join()
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(await read('package.json')) as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >
  const packages = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies }).filter(name => !name.startsWith('@types/'))
  t.deepEqual(
    packages.filter(name => !record.includes(`\`${name}\``)),
    [],
  )
  t.true(existsSync(new URL('docs/decisions/README.md', root)))
})

test('every record number in parentheses in docs/security.md and in records exists', async t => {
  const numbers = new Set(names.map(name => name.slice(0, 4)))
  const pages = [await read('docs/security.md'), ...records.values()]
  const cited = pages.flatMap(page => [...page.matchAll(/\((0\d{3}(?:, 0\d{3})*)\)/g)].flatMap(([, list = '']) => list.split(', ')))
  t.true(cited.length > 10)
  t.deepEqual(
    cited.filter(each => !numbers.has(each)),
    [],
  )
})
