import test from 'ava'
import fc from 'fast-check'
import { archivePaths } from './archive-paths.ts'

const file = (id: string, name: string, ...folders: string[]) => ({ id, name, folders })

test('files lie in their folders', t => {
  t.deepEqual(archivePaths([file('1', 'a.txt'), file('2', 'b.txt', 'x'), file('3', 'a.txt', 'x', 'y')]), ['a.txt', 'x/b.txt', 'x/y/a.txt'])
})

test('files of one name in one folder are all told apart by their ids', t => {
  t.deepEqual(archivePaths([file('1', 'a.tar.gz', 'x'), file('2', 'a.tar.gz', 'x'), file('3', 'a.tar.gz')]), [
    'x/a.tar_1.gz',
    'x/a.tar_2.gz',
    'a.tar.gz',
  ])
  t.deepEqual(archivePaths([file('1', 'README'), file('2', 'README')]), ['README_1', 'README_2'])
  t.deepEqual(archivePaths([file('1', '.env', 'd'), file('2', '.env', 'd')]), ['d/.env_1', 'd/.env_2'])
})

test('a file named like a folder beside it is told apart', t => {
  t.deepEqual(archivePaths([file('1', 'x'), file('2', 'a', 'x')]), ['x_1', 'x/a'])
})

test('a name that another file got by its id is not taken twice', t => {
  t.deepEqual(archivePaths([file('1', 'a'), file('2', 'a'), file('3', 'a_1')]), ['a_1_1', 'a_2', 'a_1'])
})

test('no path leaves the archive and none comes twice, whatever the names', t => {
  const name = fc.oneof(fc.string(), fc.constantFrom('', '.', '..', '../..', '/etc/passwd', 'a\\..\\b', 'C:\\x', 'a', 'a_1', '\u0000'))
  const files = fc.array(fc.record({ name, folders: fc.array(name, { maxLength: 3 }) }), { maxLength: 12 })
  fc.assert(
    fc.property(files, made => {
      const paths = archivePaths(made.map((one, at) => ({ ...one, id: String(at) })))
      t.is(new Set(paths).size, paths.length)
      for (const path of paths) {
        t.false(path.startsWith('/'))
        for (const part of path.split('/')) t.false(part === '' || part === '.' || part === '..' || /[\\\u0000-\u001f]/.test(part))
        t.false(paths.some(other => other.startsWith(`${path}/`)))
      }
    }),
  )
})
