import { readFileSync } from 'node:fs'
import { editDistance, nearest } from 'pounce/sdk'
import { messageOf } from '../start-refused.ts'
import { coerce } from './coerce.ts'
import { type Node, recordOf, settingNames } from './schema-tree.ts'

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One setting out of the environment. */
export interface EnvironmentSetting {
  readonly variable: string
  readonly path: readonly string[]
  readonly value: unknown
}

const prefix = 'POUNCE_'
/** Read by tests and tools, never settings. */
const ignored = /^POUNCE_TEST_/i

const canonical = (name: string): string => name.toLowerCase().replace(/[_-]/g, '')

/** `http.baseUrl` is `POUNCE_HTTP__BASE_URL`. */
export const variableFor = (name: string): string =>
  prefix +
  name
    .split('.')
    .map(segment =>
      segment
        .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
        .replaceAll('-', '_')
        .toUpperCase(),
    )
    .join('__')

/** The setting that a variable's name leads to: dots are `__`, case and single underscores do not count. */
const find = (segments: readonly string[], root: Node): { readonly path: readonly string[]; readonly node: Node } | undefined => {
  const path: string[] = []
  let node = root
  for (const segment of segments) {
    const known = Object.entries(node.properties ?? {}).find(([key]) => canonical(key) === canonical(segment))
    const record = recordOf(node)
    if (known) {
      path.push(known[0])
      node = known[1]
    } else if (record) {
      path.push(segment.toLowerCase())
      node = record
    } else return undefined
  }
  return { path, node }
}

const segmentsOf = (variable: string): string[] => variable.slice(prefix.length).split('__')

/** A slip of the finger rather than another plugin's setting. */
const isNear = (variable: string, guess: string | undefined): boolean =>
  guess !== undefined && editDistance(variable.toUpperCase(), guess) <= 2

const readSecret = (file: string): string => readFileSync(file, 'utf8').replace(/\r?\n$/, '')

/**
 * Settings out of `POUNCE_…` variables; `…_FILE` names a file whose content is the value. What matches no setting is
 * reported together with the nearest one, and so is a file that cannot be read. `explain` may know more of a plugin's id.
 */
export const fromEnvironment = (
  environment: Environment,
  root: Node,
  explain: (id: string) => string | undefined = () => undefined,
): { readonly settings: readonly EnvironmentSetting[]; readonly problems: readonly string[] } => {
  const settings: EnvironmentSetting[] = []
  const problems: string[] = []
  for (const [variable, text] of Object.entries(environment)) {
    if (text === undefined || !variable.toUpperCase().startsWith(prefix) || ignored.test(variable)) continue
    const whole = find(segmentsOf(variable), root)
    if (whole) {
      settings.push({ variable, path: whole.path, value: coerce(text, whole.node) })
      continue
    }
    const ofFile = /_FILE$/i.test(variable) ? find(segmentsOf(variable.slice(0, -5)), root) : undefined
    if (!ofFile) {
      const guess = nearest(variable, settingNames(root).map(variableFor))
      const id = segmentsOf(variable.toLowerCase()).slice(0, 2).join('.')
      const because = isNear(variable, guess) ? undefined : explain(id)
      problems.push(`${variable} ${because ?? `is no setting${guess === undefined ? '' : ` (did you mean ${guess}?)`}`}`)
      continue
    }
    try {
      settings.push({ variable, path: ofFile.path, value: coerce(readSecret(text), ofFile.node) })
    } catch (error) {
      problems.push(`${variable}: ${messageOf(error)}`)
    }
  }
  return { settings, problems }
}
