import test from 'ava'
import { ArchiveFolder } from './archive-contents.ts'
import { layout, type Naming, plainNaming, safeName } from './archive-paths.ts'

interface Files {
  readonly [name: string]: Files | string
}

/** A tree of folders and files from `{ folder: { file: '' } }`; ids are numbered, and suffixes such as `|1` allow equal names. */
const archiveOf = (content: Files, top = new ArchiveFolder('top')): ArchiveFolder => {
  let count = 0
  const fill = (archiveFolder: ArchiveFolder, files: Files): ArchiveFolder => {
    for (const [written, below] of Object.entries(files)) {
      const [name = ''] = written.split('|')
      const id = `${++count}`
      if (typeof below === 'string') archiveFolder.files.push({ id, name, blob: '', sha256: '', sizeBytes: 0, modified: 0 })
      else archiveFolder.subfolders.push(fill(new ArchiveFolder('folder', id, name), below))
    }
    return archiveFolder
  }
  return fill(top, content)
}

const paths = (content: Files, naming: Naming = plainNaming): readonly string[] =>
  [...layout(archiveOf(content), naming)].flatMap(placed => ('file' in placed ? [placed.path] : []))

test('safe names are unchanged', t => {
  for (const name of [
    'a.txt',
    'Übersicht – 観測.md',
    '.hidden',
    'a b (1).tar.gz',
    "it's",
    'x'.repeat(255),
    '12:30:00.csv',
    'console',
    '…',
  ]) {
    t.is(safeName(name, 255), name)
  }
})

test('names that could escape the folder or are invalid on an operating system are changed', t => {
  const changed: Readonly<Record<string, string>> = {
    '..': '__',
    '.': '_',
    '': '_',
    '/etc/passwd': '_etc_passwd',
    '..\\..\\x': '.._.._x',
    'a\u0000b\nc': 'a_b_c',
    'C:windows': 'C_windows',
    CON: '_CON',
    'aux.txt': '_aux.txt',
    'lpt1.tar.gz': '_lpt1.tar.gz',
    'ends.': 'ends_',
    'ends ': 'ends_',
    'photo\u202egpj.exe': 'photo_gpj.exe',
    'half\ud800': 'half\ufffd',
  }
  for (const [name, safe] of Object.entries(changed)) t.is(safeName(name, 255), safe, JSON.stringify(name))
})

test('long names are cut between characters and keep their extension', t => {
  const name = safeName(`${'観'.repeat(200)}.json`, 255)
  t.true(Buffer.byteLength(name) <= 255)
  t.regex(name, /^観{83}\.json$/)
  t.is(Buffer.byteLength(safeName('x'.repeat(300), 255)), 255)
})

test('equal names in one folder all get their ids as suffix, in different folders none do', t => {
  t.deepEqual(paths({ 'a.txt|1': '', 'a.txt|2': '', sub: { 'a.txt': '' } }), ['a_1.txt', 'a_2.txt', 'sub/a.txt'])
})

test('names that some file systems treat as equal are distinguished', t => {
  t.deepEqual(paths({ 'A.txt': '', 'a.TXT': '' }), ['A_1.txt', 'a_2.TXT'])
  t.deepEqual(paths({ 'caf\u00e9': '', 'cafe\u0301': '' }), ['cafe\u0301_2', 'caf\u00e9_1'])
  t.deepEqual(paths({ Data: { x: '' }, data: { y: '' } }), ['Data_1/x', 'data_3/y'])
  t.deepEqual(paths({ 'a/b': '', a_b: '' }), ['a_b_1', 'a_b_2'])
})

test('a file with the name of a sibling folder is renamed', t => {
  t.deepEqual(paths({ data: { x: '' }, 'data|': '' }), ['data_3', 'data/x'])
})

test('a name that equals another name with its id suffix is not used twice', t => {
  t.deepEqual(paths({ 'a.txt|': '', 'a.txt|2': '', 'a_1.txt': '' }), ['a_1.txt', 'a_1_1.txt', 'a_2.txt'])
})

test('names reserved for the description of a file are not used by other files', t => {
  const naming: Naming = {
    maxBytes: 240,
    reserved: archiveFolder => (archiveFolder.kind === 'top' ? ['_info.json'] : []),
    endings: ['_info.json'],
  }
  t.deepEqual(paths({ a: '', 'a_info.json': '', b: '', '_info.json': '' }, naming), ['_info_4.json', 'a_1', 'a_info_2.json', 'b'])
})

test('folders too deep to be unpacked are moved to the root', t => {
  let content: Files = { 'deepest.txt': '' }
  for (let depth = 0; depth < 40; depth++) content = { ['観'.repeat(80)]: content }
  const [path = ''] = paths(content)
  t.true(Buffer.byteLength(path) < 3600)
  t.regex(path, /\/deepest\.txt$/)
})
