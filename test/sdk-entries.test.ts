import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { sdkEntries, sdkNames } from '../scripts/docs/sdk-names.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string): Promise<string> => readFile(`${root}${path}`, 'utf8')

const names = await sdkNames()
const contract = new Set(names.filter(({ entry }) => entry === 'pounce/sdk').map(({ name, namespace }) => namespace ?? name))

test('the contract has at most 250 names', t => {
  t.true(contract.has('definePlugin'))
  t.true(contract.size <= 250, `${contract.size} names: what only some plugins use belongs in pounce/sdk/kit`)
})

test('the entries of the SDK list every name that they export', async t => {
  const entries = await Promise.all((await sdkEntries()).map(async ([, file]) => ({ file, text: await read(file) })))
  t.true(entries.length > 5)
  t.deepEqual(
    entries.filter(({ text }) => /^export \* from/m.test(text)).map(({ file }) => file),
    [],
  )
})

test('every public name of the SDK has a doc comment', t => {
  t.true(names.length > 300)
  t.deepEqual(
    names.filter(({ isDocumented }) => !isDocumented).map(({ entry, name }) => `${entry} ${name}`),
    [],
  )
})

test('the token of every port is in the contract', async t => {
  const texts = await Promise.all((await Array.fromAsync(glob('sdk/ports/*.ts', { cwd: root }))).map(read))
  const tokens = texts.flatMap(text =>
    [...text.matchAll(/^export const (\w+)\b[^=\n]*= (?:port|contributions)</gm)].map(([, name = '']) => name),
  )
  t.true(tokens.length > 60)
  t.deepEqual(
    tokens.filter(name => !contract.has(name)),
    [],
  )
})
