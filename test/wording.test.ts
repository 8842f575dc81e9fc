import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import test from 'ava'

/** What we do not write, and what to write instead. Each entry has no hit in our sources, comments and documents. */
const replacements: readonly (readonly [old: RegExp, instead: string])[] = [
  [/\b(?:is|are) away\b/, 'is unavailable'],
  [/\banew\b/i, 'again, or a verb with re-'],
  [/\bput aside\b/i, 'dead-lettered, a dead letter'],
  [/\bby hand\b/i, 'manual, manually'],
  [/\bunless said\b/i, 'by default'],
  [/\bat hand\b/i, 'available'],
  [/may not see it\b/i, 'not found or not accessible'],
  [/it takes the permission/i, '… required'],
  [/cannot be reached/i, 'is unreachable'],
]

/** Generated from the sources, decided and released earlier, or made of other people's words. */
const isLeftOut = (path: string): boolean =>
  /^(?:docs\/decisions\/|test\/data\/|CHANGELOG\.md$|docs\/(?:configuration|coverage)\.md$|test\/wording\.test\.ts$)/.test(path)

test('texts are in the words of the field', async t => {
  const root = new URL('../', import.meta.url)
  const listed = execFileSync('git', ['ls-files', '-z', '*.ts', '*.js', '*.md'], { cwd: root, encoding: 'utf8' })
  const paths = listed.split('\0').filter(path => path !== '' && !isLeftOut(path))
  t.true(paths.length > 500)
  const found: string[] = []
  for (const path of paths) {
    const lines = (await readFile(new URL(encodeURI(path), root), 'utf8')).split('\n')
    for (const [at, line] of lines.entries())
      for (const [old, instead] of replacements) if (old.test(line)) found.push(`${path}:${at + 1} ${old.exec(line)?.[0]} → ${instead}`)
  }
  t.deepEqual(found, [])
})
