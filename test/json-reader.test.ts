import { glob, readFile } from 'node:fs/promises'
import test from 'ava'

const root = new URL('../', import.meta.url)

/** Code that may parse JSON without `parseJson` of `pounce/sdk/kit`, which enforces limits: its input was written by Pounce or the operator. */
const ownData: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^sdk\/limited-json\.ts$/, 'the reader itself'],
  [/^sdk\/client\.ts$/, 'answers of our own server, read by its clients'],
  [/^sdk\/database-(?:check|doctor)\.ts$/, 'what the server and the process that it starts write to each other'],
  [/^sdk\/documents\/apply-update\.ts$/, 'copies values that the program holds'],
  [/^core\/kernel\/config(\.ts|\/coerce\.ts)$/, 'the configuration'],
  [/^core\/resolve\.js$/, 'our own package.json'],
  [/^core\/plugin-source\.ts$/, 'the package.json of a plugin, which the operator has installed'],
  [/^core\/(?:bundle|compile-cache)\.js$/, 'what our own build wrote'],
  [/^core\/cli\/user\//, 'in the process of a user, answers of the server that they signed in to, and their own files'],
  [/^core\/cli\/pretty-log\.ts$/, 'our own log lines'],
  [/^plugins\/documents\/(sqlite|mongodb)\//, 'stored documents, which came in through a reader'],
  [/^plugins\/transport\/queue\/runner\.ts$/, 'the arguments that the server starts it with'],
  [/^plugins\/extractors\/media\/ffprobe\.ts$/, 'in the process of an extractor, whose memory and time are limited'],
  [/^plugins\/geo\/(postgis|rtree)\//, 'stored readings'],
  [/^plugins\/search\/fts\//, 'the index, made by us'],
  [/^plugins\/resources\/live\/event-log\.ts$/, 'segments of our own store'],
  [/^plugins\/resources\/reports\/usage-reports\.ts$/, 'lines of our own store'],
  [/^plugins\/resources\/users\/second-factor\/factor-sign-in\.ts$/, 'a challenge that we sealed'],
  [/^plugins\/resources\/users\/sign-in\/sign-in\.ts$/, 'a cookie that we sealed'],
  [/^plugins\/auth\/oidc\/oidc-provider\.ts$/, 'a text that we sealed'],
  [/^sdk\/clients\//, 'answers of the server to clients, which run elsewhere'],
  [/^core\/openapi\/openapi-schema\.ts$/, 'schemas of our own routes'],
  [/^plugins\/web\/app-build\.ts$/, 'our own build'],
  [/^plugins\/web\/app\//, 'in the browser, what our own server answered'],
]

const sources = async (): Promise<readonly string[]> => {
  const found = await Array.fromAsync(glob('{core,sdk,plugins}/**/*.{ts,js}', { cwd: root }))
  return found.filter(path => !/\.test\.ts$|\/(?:testing|testing-fixtures|fixtures|node_modules|dist)\//.test(path))
}

test('JSON from outside is parsed only by parseJson, which enforces limits', async t => {
  const parsing: string[] = []
  for (const path of await sources()) {
    const text = await readFile(new URL(path, root), 'utf8')
    if (/\bJSON\s*\.\s*parse\b|\.json\(\)\.then|await response\.json\(\)/.test(text)) parsing.push(path)
  }
  t.true(parsing.length > 20, 'the sources were found')
  t.deepEqual(
    parsing.filter(path => !ownData.some(([pattern]) => pattern.test(path))),
    [],
    'use parseJson of pounce/sdk/kit, with limits',
  )
})
