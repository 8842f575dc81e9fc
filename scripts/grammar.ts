import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import peggy from 'peggy'

/** Generates the parsers from their grammars; with `--check`, verifies that the committed ones are current. */
const languages = [
  { grammar: 'sdk/search/grammar/query.peggy', allowedStartRules: ['Query', 'Regex'] },
  {
    grammar: 'plugins/resources/sensorthings/grammar/sensorthings.peggy',
    allowedStartRules: ['Path', 'Filter', 'Expand', 'OrderBy', 'Select', 'Wkt'],
  },
]

const root = new URL('../', import.meta.url)

for (const { grammar, allowedStartRules } of languages) {
  const path = grammar.replace(/\.peggy$/, '-parser.js')
  const parser = new URL(path, root)
  const grammarSource = grammar.replace(/^.*\//, '')
  const text = await readFile(new URL(grammar, root), 'utf8')
  const content = `${peggy.generate(text, { output: 'source', format: 'es', allowedStartRules, grammarSource }).trimEnd()}\n`
  const isCurrent = existsSync(parser) && (await readFile(parser, 'utf8')) === content
  if (isCurrent) continue
  if (process.argv.includes('--check')) {
    process.stderr.write(`${path} is out of date\n`)
    process.exitCode = 1
  } else {
    await writeFile(parser, content)
    process.stdout.write(`${path} written\n`)
  }
}
