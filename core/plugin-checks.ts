import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  AuthProviders,
  BlobStore,
  type Class,
  Commands,
  DocumentStore,
  Extractors,
  GeoStore,
  Installation,
  isRoute,
  Mailer,
  type Plugin,
  Previewers,
  SearchIndex,
  s,
  Transports,
} from 'pounce/sdk'
import { didYouMean } from 'pounce/sdk/kit'
import { isSchema } from './http/validate.ts'
import { compileSchema, describe, plainlyFits, type SchemaShape } from './json-schema.ts'
import type { Kernel } from './kernel/kernel.ts'
import { routesOf } from './kernel/plugin-graph.ts'
import { messageOf, StartupError } from './kernel/startup-error.ts'
import { isOwnPlugin } from './own-plugins.ts'

type Made = Pick<Kernel, 'config' | 'get' | 'log'>

const memberOf = (one: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], one)

/** Ports whose contributions are looked up by name, and the member that holds the name. */
const nameMembers: ReadonlyMap<string, string> = new Map<string, string>([
  [AuthProviders, 'id'],
  [Extractors, 'info.name'],
  [Commands, 'name'],
  [Previewers, 'id'],
  [Transports, 'kind'],
])
/** Several plugins may contribute to one command, and several copies of a transport or provider of accounts may run. */
const sharedNames: ReadonlySet<string> = new Set<string>([Commands, Transports])

/** A contribution without a name would break the lookup of all others of its port. */
const checkNames = (kernel: Made): void => {
  const owners = new Map<string, { readonly name: string; readonly plugin: Plugin }>()
  for (const one of kernel.config.plugins) {
    const { name: plugin, plugin: definition } = one
    for (const { port, by } of definition.provides ?? []) {
      const member = nameMembers.get(port)
      if (member === undefined) continue
      const [many, name] = [port.slice(0, -1), memberOf(kernel.get(by), member)]
      if (typeof name !== 'string' || name === '')
        throw new StartupError(`${plugin}: ${by.name} contributes to ${many} and has no ${member}: give it a unique, non-empty string`)
      if (sharedNames.has(port)) continue
      const owner = owners.get(`${port}${name}`)
      if (owner === undefined) owners.set(`${port}${name}`, one)
      else if (port === AuthProviders) refuseSharedAccounts(owner, one, name)
      else kernel.log.warn(`${owner.name} and ${plugin} both contribute "${name}" to ${many}: the one of ${owner.name} is used`)
    }
  }
}

/** The identities of one provider are accounts of the other if both have the same id. Copies of a plugin share theirs on purpose. */
const refuseSharedAccounts = (
  owner: { readonly name: string; readonly plugin: Plugin },
  other: { readonly name: string; readonly plugin: Plugin },
  id: string,
): void => {
  if (owner.plugin !== other.plugin)
    throw new StartupError(
      `${owner.name} and ${other.name} both have a sign-in provider with the id "${id}", so people could sign in to each other's accounts: change the id in ${other.name}`,
    )
}

/** The methods of ports that plugins from outside usually provide. */
const portMethods: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  [BlobStore, ['put', 'get', 'stat', 'remove', 'list']],
  [Commands, ['run']],
  [DocumentStore, ['declare', 'get', 'getMany', 'find', 'count', 'seek', 'scan', 'walk', 'formattedRows', 'commit', 'commitEach']],
  [GeoStore, ['insert', 'get', 'find', 'read', 'count', 'highest', 'statistics', 'bins', 'remove']],
  [Mailer, ['send']],
  [SearchIndex, ['apply', 'search', 'facets', 'names', 'fields', 'values', 'tags', 'rebuild', 'clear']],
  [Transports, ['runs', 'publish', 'cancel', 'listen', 'queues', 'pending', 'revive']],
])

/** The methods of a plugin's classes that the kernel calls, and of the ports above. */
const calledOf = (plugin: Plugin): readonly { readonly by: Class; readonly method: string }[] => [
  ...(plugin.handlers ?? []).map(({ by, isBatch }) => ({ by, method: isBatch ? 'handleAll' : 'handle' })),
  ...(plugin.periodic ?? []).map(({ task }) => ({ by: task, method: 'run' })),
  ...(plugin.middleware ?? []).flatMap(one => ('by' in one ? [{ by: one.by, method: 'handle' }] : [])),
  ...(plugin.provides ?? []).flatMap(({ port, by }) => (portMethods.get(port) ?? []).map(method => ({ by, method }))),
]

const checkMethods = (kernel: Made): void => {
  for (const { name, plugin } of kernel.config.plugins)
    for (const { by, method } of calledOf(plugin))
      if (typeof memberOf(kernel.get(by), method) !== 'function') throw new StartupError(`${name}: ${by.name} has no method ${method}`)
}

/** An object that is declared like a route but was not made by `routesFor` would not be mounted, without a message. */
const checkRoutes = (kernel: Made): void => {
  for (const { name, plugin } of kernel.config.plugins)
    for (const [key, it] of Object.entries(plugin.routes ?? {}))
      if (typeof it === 'object' && it !== null && !isRoute(it) && 'path' in it && 'handle' in it)
        throw new StartupError(`${name}: ${key} is not a route: pass it to the function that routesFor('…', { … }) returns`)
}

/** The same object may be listed twice, by a resource and by the plugin; of two different ones, the indexes of one would be lost. */
const checkCollections = (kernel: Made): void => {
  for (const { name, plugin } of kernel.config.plugins) {
    const names = [...new Set(plugin.collections)].map(each => each.name)
    const twice = names.find((one, at) => names.indexOf(one) !== at)
    if (twice !== undefined) throw new StartupError(`${name} has two collections named ${twice}: rename one of them`)
  }
}

/** The schemas of built-in routes are compiled at the first request, and tested. */
const checkSchemas = (kernel: Made): void => {
  for (const { name, plugin } of kernel.config.plugins) {
    if (isOwnPlugin(plugin.id)) continue
    for (const { name: route, route: made } of routesOf(plugin))
      for (const part of ['params', 'query', 'body'] as const) {
        const schema = made.declaration[part]
        if (!isSchema(schema)) continue
        try {
          compileSchema(schema)
        } catch (error) {
          throw new StartupError(`${name}: the schema "${part}" of the route ${route} is invalid: ${messageOf(error)}`, { cause: error })
        }
      }
  }
}

const checkMigrations = (kernel: Made): void => {
  for (const { name, plugin } of kernel.config.plugins)
    if (plugin.migrations && !isOwnPlugin(plugin.id) && !existsSync(plugin.migrations))
      throw new StartupError(`${name}: the folder of its migrations does not exist: ${fileURLToPath(plugin.migrations)}`)
}

/** Routes are checked when they are registered, and web contributions by the plugin that shows them. */
const checkViewPermissions = (kernel: Made): void => {
  const { permissions } = kernel.get(Installation)
  for (const { name, plugin } of kernel.config.plugins)
    for (const { kind, view } of plugin.resources ?? [])
      if (!permissions.has(view))
        throw new StartupError(
          `${name}: the kind ${kind} has the unknown permission ${view} as "view"${didYouMean(view, permissions.names)}; a plugin lists its own in "permissions"`,
        )
}

/** A partial check that does not need ajv. Configured settings are fully validated. */
const fits = (value: unknown, { anyOf, type, const: only, minimum, maximum, minLength }: SchemaShape): boolean => {
  const known = { type, const: only, minimum, maximum, minLength }
  const given = Object.fromEntries(Object.entries(known).filter(([, rule]) => rule !== undefined))
  return plainlyFits(given as SchemaShape, value, {}) && (anyOf === undefined || anyOf.some(one => fits(value, one)))
}

/** The defaults of a plugin are the only values not validated elsewhere; a test checks those of the built-in plugins. */
const checkDefaults = (plugin: string, schema: SchemaShape, path: readonly string[] = []): void => {
  if ('default' in schema && !fits(schema.default, schema))
    throw new StartupError(
      `${plugin}: the default of its setting ${path.join('.')} must be ${describe(schema)} (is ${JSON.stringify(schema.default)})`,
    )
  for (const [name, below] of Object.entries(schema.properties ?? {})) checkDefaults(plugin, below, [...path, name])
}

/** Calls `found` with each named model in a schema, or in an object or list of schemas. */
const eachModel = (schemas: unknown, found: (name: string, model: object) => void): void => {
  if (typeof schemas !== 'object' || schemas === null) return
  const name = (schemas as Readonly<Record<string, unknown>>)[s.modelName]
  if (typeof name === 'string') found(name, schemas)
  for (const each of Object.values(schemas)) eachModel(each, found)
}

/**
 * OpenAPI has one schema per model name, so two different ones would make the whole document unavailable. Skipped without plugins from outside: the document
 * of the built-in ones is tested.
 */
const checkModels = async ({ config: { plugins } }: Made): Promise<void> => {
  if (plugins.every(({ plugin }) => isOwnPlugin(plugin.id))) return
  const { problemSchema, problemDetailsSchema } = await import('./openapi/declared-answers.ts')
  const { readinessSchema } = await import('./system-routes.ts')
  const known = new Map<string, { readonly owner: string; readonly model: object }>()
  const add = (owner: string, schemas: unknown): void =>
    eachModel(schemas, (name, model) => {
      const other = known.get(name)
      if (other && other.model !== model && JSON.stringify(other.model) !== JSON.stringify(model))
        throw new StartupError(
          other.owner === owner
            ? `${owner}: it names two different schemas ${name} with s.model: give one of them another name`
            : `${other.owner} and ${owner} name different schemas ${name} with s.model: give one of them another name`,
        )
      if (!other) known.set(name, { owner, model })
    })
  add('Pounce', [problemSchema, problemDetailsSchema, readinessSchema])
  for (const { name, plugin } of plugins)
    for (const { route } of routesOf(plugin)) {
      const { params, query, body, responses } = route.declaration
      add(name, [params, query, body, responses])
    }
}

/** Rejects plugins whose classes, settings or models would fail later and affect other plugins. */
export const checkPlugins = async (kernel: Made): Promise<void> => {
  for (const { name, plugin } of kernel.config.plugins)
    if (!isOwnPlugin(plugin.id)) checkDefaults(name, (plugin.config ?? {}) as SchemaShape)
  checkNames(kernel)
  checkMethods(kernel)
  checkRoutes(kernel)
  checkCollections(kernel)
  checkSchemas(kernel)
  checkMigrations(kernel)
  checkViewPermissions(kernel)
  await checkModels(kernel)
}
