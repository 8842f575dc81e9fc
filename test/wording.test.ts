import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import test from 'ava'

/** Forbidden phrases with replacements. None of them may occur in our sources, comments and documents. */
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
  // No figures of speech, and no software that acts like a person.
  [/\b(?:goe?s?|went|gone) away\b/i, 'disconnects, becomes unavailable, is deleted'],
  [/\b(?:hears|hear of|heard of)\b/i, 'receives, is notified of'],
  [/\b(?:is|are|was|were|be|been) told\b/i, 'is reported, is notified, gets'],
  [/\b(?:tells?|told) of\b/i, 'reports, shows, describes'],
  [/\btold apart\b/i, 'distinguished'],
  [/\b(?:holds? up|held up|holding up)\b/i, 'blocks'],
  [/\b(?:gives?|gave|given|giving) back\b/i, 'returns, releases'],
  [/\bgives? way\b/i, 'is replaced'],
  [/\bhand(?:s|ed) (?:on|out|back)\b/i, 'delivers, passes on, releases'],
  [/\blets? go of\b/i, 'releases'],
  [/\bworked out\b/i, 'computed'],
  [/\bwho(?:ever)? asks\b/i, 'the caller'],
  [/\b(?:asks|ask|asked) for\b/i, 'requests, requires'],
  [/\bno ?(?:body|one) knows\b/i, 'unknown'],
  [/\bforgets\b/i, 'deletes, clears'],
  [/\bremembers\b/i, 'caches, records'],
  [/\b(?:comes|bring|brings) along\b/i, 'built in'],
  [/\bis (?:not )?believed\b/i, 'is accepted, is refused'],
  [/\bdoor is shut\b|\bshut door\b/i, 'throttled'],
  [/\bsees to (?:it|that)\b/i, 'ensures'],
  [/#(?:news|handover)\b/, 'notifier, relay'],
]

/** Files that are generated from the sources, describe earlier releases, or contain other people's texts. */
const isLeftOut = (path: string): boolean =>
  /^(?:test\/data\/|CHANGELOG\.md$|docs\/(?:configuration|coverage|sdk-api)\.md$|test\/wording\.test\.ts$)/.test(path)

const root = new URL('../', import.meta.url)

interface Line {
  /** Path and line number. */
  readonly at: string
  readonly text: string
}

/** The lines of the tracked files that match the patterns. */
const linesOf = async (...patterns: readonly string[]): Promise<readonly Line[]> => {
  const listed = execFileSync('git', ['ls-files', '-z', ...patterns], { cwd: root, encoding: 'utf8' })
  const paths = listed.split('\0').filter(path => path !== '' && !isLeftOut(path))
  const files = await Promise.all(paths.map(path => readFile(new URL(encodeURI(path), root), 'utf8')))
  return files.flatMap((file, n) => file.split('\n').map((text, at) => ({ at: `${paths[n]}:${at + 1}`, text })))
}

test('sources and documents use the terms of the field', async t => {
  const lines = await linesOf('*.ts', '*.js', '*.md')
  t.true(lines.length > 50_000)
  const found: string[] = []
  for (const { at, text } of lines)
    for (const [old, instead] of replacements) if (old.test(text)) found.push(`${at} ${old.exec(text)?.[0]} → ${instead}`)
  t.deepEqual(found, [])
})

test('log messages begin with a capital letter', async t => {
  const lines = await linesOf('core/*.ts', 'plugins/*.ts', 'sdk/*.ts', 'examples/*.ts', ':!*.test.ts', ':!sdk/testing')
  const messages = lines.filter(({ text }) => /\b[lL]og\??\.(?:debug|info|warn|error)\(['"`]/.test(text))
  t.true(messages.length > 150)
  t.deepEqual(
    messages.filter(({ text }) => /\b[lL]og\??\.\w+\(['"`][a-z]/.test(text)),
    [],
  )
})
