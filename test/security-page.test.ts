import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import test from 'ava'

const root = new URL('../', import.meta.url)
const page = await readFile(new URL('docs/security.md', root), 'utf8')
const code = [...page.matchAll(/`([^`\s]+)`/g)].map(([, text = '']) => text)
const paths = code.filter(text => /^(core|sdk|plugins|test|docs|scripts|config)\//.test(text))

test('every file that docs/security.md names is there', t => {
  t.true(paths.length > 60)
  t.deepEqual(
    paths.filter(path => !existsSync(new URL(path, root))),
    [],
  )
})

test('every promise of docs/security.md names a test', t => {
  const promises = (page.split(/^## /m).find(part => part.startsWith('How the promises are kept')) ?? '')
    .split('\n')
    .filter(line => line.startsWith('| ') && !line.startsWith('| Promise'))
  t.true(promises.length > 30)
  t.deepEqual(
    promises.filter(line => !/`[^`]+\.test\.ts`[^|]*\|$/.test(line)),
    [],
  )
})
