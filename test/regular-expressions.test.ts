import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { patternOf } from '../plugins/documents/sqlite/row-formatter.ts'
import { expressionsIn, expressionsOf, type Found } from './regular-expressions/in-sources.ts'
import { slowString } from './regular-expressions/slow.ts'

const root = join(import.meta.dirname, '..')
/** Browser code is exempt: a slow expression affects only its own user. */
const isInBrowser = (path: string): boolean => /^plugins\/web\/(?:app|dist)\//.test(path)
const isSource = (path: string): boolean => /\.[cm]?[jt]s$/.test(path) && !/\.(?:test|d)\.ts$/.test(path) && !isInBrowser(path)
/** Contracts and fixtures may build expressions, because they run only in tests. */
const isOfTests = (at: string): boolean => /\/testing(?:-fixtures)?\//.test(at)

const readSources = async (): Promise<readonly Found[]> => {
  const folders = ['core', 'sdk', 'plugins']
  const paths = await Promise.all(
    folders.map(async folder => (await readdir(join(root, folder), { recursive: true })).map(path => `${folder}/${path}`)),
  )
  return Promise.all(
    paths
      .flat()
      .filter(isSource)
      .map(path => expressionsOf(root, path)),
  )
}
const sources = readSources()

test('no regular expression of core, sdk and plugins takes more than 5 ms for 16 kB', async t => {
  t.timeout(600_000)
  const expressions = (await sources).flatMap(found => found.expressions)
  t.true(expressions.length > 400, `only ${expressions.length} were found`)
  const places = Map.groupBy(expressions, ({ source, flags }) => `/${source}/${flags}`)
  const slow = [...places].flatMap(([expression, [first, ...others]]) => {
    const found = first && slowString(first.source, first.flags)
    return found === undefined ? [] : [`${[first, ...others].map(each => each?.at).join(', ')} ${expression}: ${found}`]
  })
  t.deepEqual(slow, [])
})

test('regular expressions are built from constants, except those tested here', async t => {
  const built = (await sources).flatMap(found => found.built).filter(at => !isOfTests(at))
  t.deepEqual(
    built.map(at => at.replace(/:\d+$/, '')),
    ['plugins/documents/sqlite/row-formatter.ts'],
  )
  const document = { id: 'a', text: 'b', list: ['c', 1], inner: { '.*(a+)+$': 1, two: { three: true } }, none: null, number: -1.5 }
  for (const paths of [['id'], ['list', 'inner', 'number', 'inner.two']]) {
    const { source, flags } = patternOf(document, paths).regex
    t.is(slowString(source, flags), undefined, source)
  }
})

/** Each of these was once in this program, or is a textbook example of a slow expression. */
const slowOnes = [
  /^([^:]+?)\s*:\s*(.*?)\s*$/,
  /^([0-9a-fA-F]{32,128})[ \t]+(.+)$/,
  /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/,
  /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i,
  /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/,
  /=+$/,
  /\/+$/,
  /%.*$/,
  /[. ]+$/,
  /[.'’-]+$/u,
  /\s*([,=+])\s*/g,
  /^\s*(==|!=|<=|>=|<|>|=|:)?\s*(.*?)\s*$/s,
  /^[^\u0000-\u001f\u007f]*\S[^\u0000-\u001f\u007f]*$/u,
  /^https?:\/\/[^/?#]+[^?#]*$/u,
  /^\(.*\{dn\}.*\)$/u,
  /\/api\/[^\s'"]*[?&]key=/,
  /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g,
  /^\/(?:[^/:*]+|:\w+[^/:*]*)?(?:\/(?:[^/:*]+|:\w+[^/:*]*))*(?:\/:\w+\*)?$/,
  /^(a+)+$/,
  /^(?:a|a)*b$/,
  /^([a-z]+\d?)*!$/,
  /^(?:\w\s?)+(?:\w\s?)+(?:\w\s?)+$/,
  /<!--[\s\S]*?-->/,
]

test('expressions that take quadratic, cubic or exponential time are detected', t => {
  for (const { source, flags } of slowOnes) t.is(typeof slowString(source, flags), 'string', `/${source}/${flags}`)
})

test('expressions that take linear time are accepted', t => {
  for (const { source, flags } of [/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/, /[\p{Cc}\u2028]+/gu, /^(?:\/[^/]+)*$/, /"[^"\\]*(?:\\.[^"\\]*)*"/y])
    t.is(slowString(source, flags), undefined, `/${source}/${flags}`)
})

test('every form of an expression is found in any context', t => {
  const code = `
    const divided: number = a / b / c, text = '/no/', path = \`\${x} /no/ \`
    if (x as string) /one/g.test(y)
    const source = 'two+'
    new RegExp(source, 'i'); RegExp('three'); new RegExp(/four/); new RegExp(\`five\`, 'u')
    s.String({ pattern: '^six$', maxLength: 1 })
    s.String({ pattern: known.source })
    const known = /seven/
    new RegExp(\`\${x}eight\`)
    new RegExp('nine', flags)
    s.String({ pattern: unknown })
  `
  const { expressions, built } = expressionsIn(code, 'a.ts')
  t.deepEqual(expressions.map(({ source, flags }) => `${source} ${flags}`).toSorted(), [
    ...['^six$ u', 'five u', 'four ', 'four ', 'one g', 'seven ', 'seven u', 'three ', 'two+ i'],
  ])
  t.deepEqual(built, ['a.ts:9', 'a.ts:10', 'a.ts:11'])
})
