import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import peggy from 'peggy'

/** Writes the parser of the search language from its grammar; with `--check` says whether the committed one is that. */
const folder = new URL('../sdk/search/grammar/', import.meta.url)
const grammar = fileURLToPath(new URL('query.peggy', folder))
const parser = fileURLToPath(new URL('query-parser.js', folder))

const made = peggy.generate(await readFile(grammar, 'utf8'), {
  output: 'source',
  format: 'es',
  allowedStartRules: ['Query', 'Regex'],
  grammarSource: 'query.peggy',
})
const content = `${made.trimEnd()}\n`
const isCurrent = existsSync(parser) && (await readFile(parser, 'utf8')) === content

if (process.argv.includes('--check')) {
  if (!isCurrent) {
    process.stderr.write('sdk/search/grammar/query-parser.js is not what the grammar says\n')
    process.exitCode = 1
  }
} else if (!isCurrent) {
  await writeFile(parser, content)
  process.stdout.write('sdk/search/grammar/query-parser.js is written\n')
}
