import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import test from 'ava'

const root = new URL('../', import.meta.url)
const page = await readFile(new URL('docs/security.md', root), 'utf8')
const code = [...page.matchAll(/`([^`\s]+)`/g)].map(([, text = '']) => text)
const paths = code.filter(text => /^(core|sdk|plugins|test|docs|scripts|config)\//.test(text))

test('every file that docs/security.md names exists', t => {
  t.true(paths.length > 60)
  t.deepEqual(
    paths.filter(path => !existsSync(new URL(path, root))),
    [],
  )
})

test('every guarantee of docs/security.md names a test', t => {
  const guarantees = (page.split(/^## /m).find(part => part.startsWith('Guarantees')) ?? '')
    .split('\n')
    .filter(line => line.startsWith('| ') && !line.startsWith('| Guarantee'))
  t.true(guarantees.length > 30)
  t.deepEqual(
    guarantees.filter(line => !/`[^`]+\.test\.ts`[^|]*\|$/.test(line)),
    [],
  )
})
