import { readFileSync } from 'node:fs'
import type { EnvironmentAlias } from 'pounce/sdk'
import { editDistance, nearest } from 'pounce/sdk/kit'
import { isOwnPlugin } from '../../own-plugins.ts'
import type { NamedPlugin } from '../plugin-graph.ts'
import { messageOf } from '../startup-error.ts'
import { coerce } from './coerce.ts'
import { type Node, recordOf, settingNames } from './schema-tree.ts'

/** Environment variables in the shape of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A setting from the environment. */
export interface EnvironmentSetting {
  readonly variable: string
  readonly path: readonly string[]
  readonly value: unknown
  /** The content of the variable, or of the file that it names. */
  readonly text: string
}

const prefix = 'POUNCE_'
/** Variables of tests and tools, which are not settings. */
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

/** The setting that a variable sets: `__` stands for a dot; case and single underscores are ignored. */
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

/** True if the name is probably a typo rather than the setting of another plugin. */
const isNear = (variable: string, guess: string | undefined): boolean =>
  guess !== undefined && editDistance(variable.toUpperCase(), guess) <= 2

const rejectionOf = (variable: string, root: Node, explain: (name: string) => UnknownSetting): string => {
  const nearestSetting = nearest(variable, settingNames(root).map(variableFor))
  const { reason, candidates } = explain(segmentsOf(variable.toLowerCase()).join('.'))
  if (reason !== undefined && !isNear(variable, nearestSetting)) return reason
  const guess = isNear(variable, nearestSetting) ? nearestSetting : nearest(variable, candidates.map(variableFor))
  return `is not a setting${guess === undefined ? '' : ` (did you mean ${guess}?)`}`
}

/**
 * Settings from `POUNCE_…` variables; `…_FILE` names a file that contains the value. Unknown variables are reported with the nearest
 * setting, and unreadable files are reported too. `explain` may give the reason why a name is not a setting.
 * Messages are created on demand, because comparing names takes longer than reading all variables.
 */
export const fromEnvironment = (
  environment: Environment,
  root: Node,
  explain: (name: string) => UnknownSetting,
): { readonly settings: readonly EnvironmentSetting[]; readonly problems: () => readonly string[] } => {
  const settings: EnvironmentSetting[] = []
  const problems: (() => string)[] = []
  for (const [variable, text] of Object.entries(environment)) {
    if (text === undefined || !variable.toUpperCase().startsWith(prefix) || ignored.test(variable)) continue
    const setting = find(segmentsOf(variable), root)
    if (setting) {
      settings.push({ variable, path: setting.path, value: coerce(text, setting.node), text })
      continue
    }
    const fileSetting = /_FILE$/i.test(variable) ? find(segmentsOf(variable.slice(0, -5)), root) : undefined
    if (!fileSetting) {
      problems.push(() => `${variable} ${rejectionOf(variable, root, explain)}`)
      continue
    }
    try {
      const content = readFileSync(text, 'utf8').replace(/\r?\n$/, '')
      settings.push({ variable, path: fileSetting.path, value: coerce(content, fileSetting.node), text: content })
    } catch (error) {
      problems.push(() => `${variable}: ${messageOf(error)}`)
    }
  }
  return { settings, problems: () => problems.map(describe => describe()) }
}

/** Settings from the variables that plugins declare. */
export interface AliasedSettings {
  readonly settings: readonly { readonly variable: string; readonly path: readonly string[]; readonly text: string }[]
  readonly warnings: readonly string[]
}

interface GivenAlias extends EnvironmentAlias {
  readonly variable: string
  readonly text: string
}

const given = (plugins: readonly NamedPlugin[], environment: Environment): readonly GivenAlias[] =>
  plugins
    .flatMap(({ plugin }) => Object.entries(plugin.environment ?? {}))
    .flatMap(([variable, alias]) => (environment[variable] ? [{ ...alias, variable, text: environment[variable] }] : []))

/** Plugins that the variables that are set enable. */
export const usedByAliases = (plugins: readonly NamedPlugin[], environment: Environment): readonly string[] =>
  given(plugins, environment).flatMap(({ uses = [] }) => uses)

/** Reads the variables that plugins declare. A variable without effect gives a warning. */
export const fromAliases = (
  plugins: readonly NamedPlugin[],
  environment: Environment,
  hasSetting: (path: readonly string[]) => boolean,
): AliasedSettings => {
  const all = given(plugins, environment)
  const hasEffect = ({ setting }: GivenAlias): boolean => setting !== undefined && hasSetting(setting.split('.'))
  return {
    settings: all
      .filter(hasEffect)
      .map(({ variable, setting = '', convert, text }) => ({ variable, path: setting.split('.'), text: convert ? convert(text) : text })),
    warnings: all
      .filter(one => !hasEffect(one) && !one.defaults?.includes(one.text.toLowerCase()))
      .map(
        ({ variable, setting, otherwise }) =>
          `${variable} has no effect: ${otherwise ?? (setting === undefined ? 'it is not used' : `no enabled plugin has the setting ${setting}`)}`,
      ),
  }
}

/** An explanation for a name that is not a setting. */
export interface UnknownSetting {
  /** Why it is not a setting, if it is not just a typo. */
  readonly reason?: string
  /** Settings that the user may have meant. */
  readonly candidates: readonly string[]
}

/** Explains an unknown name; below a built-in plugin, it is an unknown setting of that plugin, or the plugin is not enabled. */
export const unknownSetting = (name: string, schema: Node): UnknownSetting => {
  const [kind = '', plugin = ''] = name.split('.')
  const id = `${kind}.${plugin}`
  const all = settingNames(schema)
  if (!isOwnPlugin(id)) return { candidates: all }
  const candidates = all.filter(one => one.startsWith(`${id}.`))
  if (schema.properties?.[kind]?.properties?.[plugin] === undefined)
    return { reason: `belongs to the plugin ${id}, which is in neither "plugins" nor "replacePlugins"`, candidates: all }
  return candidates.length === 0 ? { reason: `is not a setting: the plugin ${id} has none`, candidates } : { candidates }
}
