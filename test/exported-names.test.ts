import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'

const root = fileURLToPath(new URL('../', import.meta.url))
const glossary = await readFile(join(root, 'docs/glossary.md'), 'utf8')

/** Words of the glossary's column "Not", in lower case. */
const rejectedWords = new Set(
  glossary.split('\n').flatMap(line => {
    const cells = line.split('|').map(cell => cell.trim())
    return cells.length === 5 && cells[1] !== 'Term' && !cells[3]?.startsWith('-') ? (cells[3] ?? '').toLowerCase().split(/,\s*/) : []
  }),
)
rejectedWords.delete('')

const declaration = /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type)\s+([\w$]+)/gm

interface Exported {
  readonly name: string
  readonly path: string
}

// Browser code has its own names.
const paths = (await Array.fromAsync(glob('{core,sdk,plugins}/**/*.ts', { cwd: root }))).filter(
  path => !path.startsWith('plugins/web/app/'),
)
const isProduct = (path: string): boolean =>
  !/\.test\.ts$|\.d\.ts$|\/(?:testing|testing-fixtures|fixtures|migrations)\/|\/test(?:ing|-)[^/]*$/.test(path)
const exported: readonly Exported[] = (
  await Promise.all(
    paths.filter(isProduct).map(async path => {
      const text = await readFile(join(root, path), 'utf8')
      return [...text.matchAll(declaration)].map(([, name = '']) => ({ name, path }))
    }),
  )
).flat()

const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _$]/)

/** Rejected words that a standard uses, with the folders in which they are allowed. */
const fieldWords: readonly (readonly [word: string, folder: RegExp, standard: string])[] = [
  ['bin', /^(?:sdk\/(?:geo|ports\/geo)|plugins\/(?:geo\/|resources\/geostreams\/))/, 'bins of a histogram'],
  ['thing', /^plugins\/resources\/sensorthings\//, 'Thing of OGC SensorThings'],
  ['form', /^plugins\/resources\/vocabularies\//, 'an HTML form'],
  ['exchange', /^plugins\/transport\/rabbitmq\//, 'an exchange of AMQP'],
]
const isOfTheField = (word: string, path: string): boolean => fieldWords.some(([one, folder]) => one === word && folder.test(path))

test('no exported name contains a word that the glossary rejects', t => {
  t.true(rejectedWords.size > 20)
  t.true(exported.length > 1500)
  const faults = exported.flatMap(({ name, path }) =>
    wordsOf(name).flatMap(word => {
      const singular = rejectedWords.has(word) ? word : word.replace(/s$/, '')
      return rejectedWords.has(singular) && !isOfTheField(singular, path) ? [`${path}: ${name} (${singular})`] : []
    }),
  )
  t.deepEqual(faults, [])
})

test('limits are named max…', t => {
  const faults = exported.filter(({ name }) => /^(?:most|upper|largest|longest|top)[A-Z]|(?:AtMost|Most)$/.test(name))
  t.deepEqual(
    faults.map(({ name, path }) => `${path}: ${name}`),
    [],
  )
})

/** A number under a name of a limit other than `max…`, such as `longestName`, `countedAtMost` or `most`. */
const notMax =
  /^\s*const (most[A-Z]\w*(?= = \()|(?:most|longest|deepest|fewest)(?:[A-Z]\w*)?(?= = -?[\d{])|\w+(?:AtMost|UpTo|AtOnce)(?= = -?[\d{])|atOnce) = /gm

test('limits that are not exported are named max…, too', async t => {
  const faults: string[] = []
  for (const path of paths.filter(isProduct))
    for (const [, name] of (await readFile(join(root, path), 'utf8')).matchAll(notMax)) faults.push(`${path}: ${name}`)
  t.deepEqual(faults, [])
})

/**
 * Words for software that acts like a person, and words that only this project used, with terms of the field. They may not name anything that a file declares,
 * tests and browser code included.
 */
const replacements: Readonly<Record<string, string>> = {
  asked: 'requested, query, options',
  deed: 'action, activity',
  dice: 'seededRandom',
  door: 'provider, limit, endpoint',
  effort: 'cost, budget',
  heard: 'received',
  lane: 'queue, flow',
  looker: 'observer, viewer',
  said: 'text, message, output',
  shelf: 'folder',
  told: 'reported, notified',
  wish: 'request, choice',
}
/** Members of stored records, wire formats and libraries with such names. */
const storedNames: readonly (readonly [word: string, path: RegExp])[] = [
  ['asked', /^plugins\/auth\/local\//],
  ['told', /^plugins\/resources\/notifications\//],
  ['heard', /^plugins\/(?:resources\/extractions|transport\/rabbitmq)\//],
  ['lane', /^sdk\/passwords/],
  ['door', /^plugins\/resources\/(?:audit|users)\//],
  ['said', /^test\/(?:access\/things|api\/|support\/furnished)/],
  ['effort', /^scripts\/screens/],
]

test('no declaration has a name that a reader of the field would not know', async t => {
  const words = Object.keys(replacements).join('|')
  const declared = new RegExp(`(?:\\b(?:const|let|class|function|interface|type)\\s+|[({,]\\s*|#)(${words})s?\\b\\s*[:=,)}<(;?]`, 'gi')
  const listed = await Array.fromAsync(glob('{core,sdk,plugins,test,scripts,examples}/**/*.{ts,tsx}', { cwd: root }))
  const faults: string[] = []
  for (const path of listed.filter(
    one => !/^plugins\/web\/app\/api\.ts$|^test\/exported-names/.test(one) && !/\/(?:dist|node_modules)\//.test(one),
  ))
    for (const [, word = ''] of (await readFile(join(root, path), 'utf8')).matchAll(declared)) {
      const plain = word.toLowerCase()
      if (!storedNames.some(([one, where]) => one === plain && where.test(path))) faults.push(`${path}: ${word} → ${replacements[plain]}`)
    }
  t.deepEqual(faults, [])
})

/** Names that every plugin uses for its own type. */
const ofEveryPlugin: ReadonlySet<string> = new Set(['Config', 'Settings'])

const ownerOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('plugins/') ? 3 : 1)
    .join('/')
/** Plugins of one kind implement the same port, so equal names have the same meaning there. */
const kindOf = (owner: string): string => (owner.startsWith('plugins/resources/') ? owner : owner.split('/').slice(0, 2).join('/'))

test('the name of a type or class has one meaning across core, the SDK and all plugins', t => {
  const owners = new Map<string, Set<string>>()
  for (const { name, path } of exported)
    if (/^[A-Z]/.test(name) && !ofEveryPlugin.has(name)) owners.set(name, (owners.get(name) ?? new Set()).add(kindOf(ownerOf(path))))
  const faults = [...owners].filter(([, kinds]) => kinds.size > 1).map(([name, kinds]) => `${name}: ${[...kinds].sort().join(', ')}`)
  t.deepEqual(faults.sort(), [])
})
