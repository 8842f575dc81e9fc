import { readFile } from 'node:fs/promises'
import type { TestedRoutes } from '../../test/coverage/hits.ts'
import { type ApiDocument, judge, type Verdict } from '../../test/coverage/judge.ts'
import { referenceRoutes } from '../../test/coverage/reference-routes.ts'
import type { Tier } from '../../test/coverage/route-groups.ts'

const meanings: Readonly<Record<Tier, string>> = {
  S: 'named or implied by the seed',
  C: 'called by pyclowder or extractors',
  R: 'else expected by users',
  X: 'left out, for the reason given',
  N: 'other spellings, and what the reference advises',
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')

const intro = `# Coverage of the Clowder v1 API

Written by \`npm run docs\`; do not edit it manually. It holds three things against each other: the routes of the reference
(\`test/coverage/data-routes.ts\`, \`platform-routes.ts\`), the routes that the server declares (\`docs/openapi.json\`), and what a
run of the tests had from them (\`test/coverage/tested.json\`, written by \`npm run coverage\`).

The references count 217 routes of data and 208 of the platform. A route that both name is here once, with its stronger tier, and so are
paths that differ by a slash at their end only.

*Tested* means that in one run of \`npm test\` the route answered with success and refused something, and that one with an id in its
path answered 404. \`npm test\` fails for a route of tier S or C that is not, and for one of tier R without a reason.
`

const totals = (verdicts: readonly Verdict[]): string => {
  const rows = (Object.keys(meanings) as Tier[]).map(tier => {
    const all = verdicts.filter(({ route }) => route.tier === tier)
    const served = all.filter(({ isServed }) => isServed)
    const tested = served.filter(({ lacks }) => lacks.length === 0)
    const coming = all.filter(({ isServed, route }) => !isServed && route.reason?.startsWith('coming'))
    return [tier, meanings[tier], ...[all, served, tested, coming].map(({ length }) => String(length))]
  })
  return table(['Tier', 'Meaning', 'Routes', 'Served', 'Tested', 'Coming'], rows)
}

const fileList = (files: readonly string[]): string => {
  const more = files.length > 4 ? ` and ${files.length - 4} more` : ''
  return `${files
    .slice(0, 4)
    .map(file => `[${file.replace(/^.*\//, '').replace('.test.ts', '')}](../${file})`)
    .join(', ')}${more}`
}

const stateOf = ({ route, isServed, done, lacks }: Verdict): readonly [string, string] => {
  if (!isServed) return [route.reason?.startsWith('coming') ? 'coming' : 'no', route.reason ?? '']
  if (lacks.length > 0) return ['yes', `lacks ${lacks.join(', ')}${route.reason === undefined ? '' : `: ${route.reason}`}`]
  return ['yes', fileList(done)]
}

const group = (name: string, verdicts: readonly Verdict[]): string => {
  const rows = verdicts.map(verdict => [verdict.route.tier, `\`${verdict.route.method} ${verdict.route.path}\``, ...stateOf(verdict)])
  return `## ${name.slice(0, 1).toUpperCase()}${name.slice(1)}\n\n${table(['Tier', 'Route', 'Served', 'Tested by, or why not'], rows)}\n`
}

/** The whole page. */
export const coveragePage = async (document: ApiDocument): Promise<string> => {
  const text = await readFile(new URL('../../test/coverage/tested.json', import.meta.url), 'utf8')
  const verdicts = judge(referenceRoutes(), document, JSON.parse(text) as TestedRoutes)
  const groups = [...Map.groupBy(verdicts, ({ route }) => route.group)].map(([name, all]) => group(name, all))
  return [intro, `${totals(verdicts)}\n`, ...groups].join('\n')
}
