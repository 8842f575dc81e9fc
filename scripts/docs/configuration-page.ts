import { variableFor } from '../../core/kernel/config/environment.ts'
import { kernelSchema } from '../../core/kernel/config/kernel-schema.ts'
import { type Node, nodeOf } from '../../core/kernel/config/schema-tree.ts'
import { loadPlugins } from '../../core/kernel/plugins.ts'
import { ownPluginIds } from '../../core/own-plugins.ts'

/** One setting as the page lists it. */
export interface Setting {
  readonly name: string
  readonly variable: string
  readonly type: string
  readonly default: string
  readonly description: string
}

/** JSON Schema keywords that constrain a value and that the configuration's own code does not use. */
interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
}

const bounded = (what: string, { minimum, maximum }: Bounds): string => {
  if (minimum !== undefined && maximum !== undefined) return `${what}, ${minimum} to ${maximum}`
  if (minimum !== undefined) return `${what}, at least ${minimum}`
  return maximum === undefined ? what : `${what}, at most ${maximum}`
}

const typeOf = (node: Node): string => {
  const bounds = node as Bounds
  if (node.anyOf?.every(one => one.const !== undefined)) return node.anyOf.map(one => `\`${String(one.const)}\``).join(', ')
  if (node.anyOf?.some(one => one.type === 'array')) return node.anyOf.map(typeOf).join(', or ')
  if (node.secret) return bounds.minLength === undefined ? 'secret' : `secret of at least ${bounds.minLength} characters`
  if (node.type === 'array') {
    const item = node.items ? typeOf(node.items) : 'anything'
    return item.startsWith('`') ? `list of ${item}` : 'list'
  }
  if (node.type === 'boolean') return '`true`, `false`'
  if (node.type === 'integer') return bounded('whole number', bounds)
  if (node.type === 'number') return bounded('number', bounds)
  return node.type === 'object' ? 'object' : 'text'
}

const defaultOf = (name: string, { default: preset }: Node): string => {
  if (name === 'plugins') return '[config/default.json](../config/default.json)'
  return preset === undefined ? '–' : `\`${JSON.stringify(preset)}\``
}

const descriptionOf = ({ description = '', formerName }: Node): string =>
  formerName === undefined ? description : `${description}. Formerly \`${formerName}\`, which is still read`

/** Every setting of a schema, including nested ones, in order of declaration. */
export const settingsOf = (node: Node, path: readonly string[]): readonly Setting[] =>
  Object.entries(node.properties ?? {}).flatMap(([key, below]) => {
    const here = [...path, key]
    if (below.properties) return settingsOf(below, here)
    const name = here.join('.')
    return [{ name, variable: variableFor(name), type: typeOf(below), default: defaultOf(name, below), description: descriptionOf(below) }]
  })

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const table = (settings: readonly Setting[]): string => {
  const rows = settings.map(one => [`\`${one.name}\``, `\`${one.variable}\``, one.type, one.default, one.description])
  return [['Setting', 'Environment', 'Value', 'Default', 'What it does'], ['---', '---', '---', '---', '---'], ...rows]
    .map(cells => `| ${cells.map(cell).join(' | ')} |`)
    .join('\n')
}

const intro = `# Configuration

Written by \`npm run docs\` from the schemas that check the settings; do not edit it manually.

Settings come from, weakest first: \`config/default.json\`, the JSON file named by \`--config\`, the environment, flags
(\`--data\`, \`--host\`, \`--port\`, \`--set name=value\`).

* In a file a dotted name is a path: \`{ "http": { "port": 9001 } }\`.
* In the environment it is \`POUNCE_\` and the path in capitals with \`__\` between its parts: \`POUNCE_HTTP__PORT=9001\`.
  A variable that ends in \`_FILE\` names a file whose content is the value: \`POUNCE_ADMIN__PASSWORD_FILE=/run/secrets/admin\`.
  Lists are separated by commas or written as JSON.
* An unknown name stops the start, and the nearest known name is shown. \`npm run pounce config check\` looks without
  starting anything, \`npm run pounce config print\` shows what is in force, with secrets masked.
* A second copy of a plugin, \`{ "plugin": "blobs.disk", "as": "blobs.archive" }\` in \`plugins\`, has its settings under its own name. In a list of \`+\` and \`-\` it is added.
`

/** The whole page. */
export const configurationPage = async (): Promise<string> => {
  const inUse = await loadPlugins(ownPluginIds().map(plugin => ({ plugin })))
  const withSettings = inUse.filter(({ plugin }) => Object.keys(nodeOf(plugin.config).properties ?? {}).length > 0)
  const without = inUse.filter(one => !withSettings.includes(one))
  const sections = withSettings.map(
    ({ name, plugin }) =>
      `## ${name}\n\n${plugin.summary}\n\n${table(settingsOf(nodeOf(plugin.config), (plugin.configPath ?? name).split('.')))}\n`,
  )
  return [
    intro,
    `## The server itself\n\n${table(settingsOf(nodeOf(kernelSchema), []))}\n`,
    ...sections,
    `## Plugins without settings\n\n${without.map(({ name, plugin }) => `* \`${name}\`: ${plugin.summary}`).join('\n')}\n`,
  ].join('\n')
}
