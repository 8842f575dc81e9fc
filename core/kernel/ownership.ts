import { eventTypes, type Plugin } from 'pounce/sdk'
import { allPermissions, didYouMean } from 'pounce/sdk/kit'
import { consumerName } from './event-dispatcher.ts'
import { kernelCollections } from './kernel-records.ts'
import type { NamedPlugin } from './plugin-graph.ts'
import { StartupError } from './startup-error.ts'

const kernel = 'the kernel'
const sdk = 'pounce/sdk'
const collectionPattern = /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$/

/** The plugin that declared each name first. Copies of a plugin are one owner. */
class Owners {
  readonly #owners: Map<string, { readonly name: string; readonly plugin?: Plugin }>

  constructor(owner: string, names: readonly string[]) {
    this.#owners = new Map(names.map(name => [name, { name: owner }]))
  }

  /** Throws the refusal if the name has another owner. */
  claim(name: string, by: NamedPlugin, refusal: (other: string) => string): void {
    const owner = this.#owners.get(name)
    if (owner && owner.plugin !== by.plugin) throw new StartupError(refusal(owner.name))
    if (!owner) this.#owners.set(name, by)
  }

  has(name: string): boolean {
    return this.#owners.has(name)
  }

  get names(): Iterable<string> {
    return this.#owners.keys()
  }
}

/** Rejects names of one sort that another plugin owns, or that already have an owner. */
const claimAll = (plugins: readonly NamedPlugin[], what: string, namesOf: (plugin: Plugin) => Iterable<string>, owners: Owners): Owners => {
  for (const one of plugins)
    for (const name of namesOf(one.plugin))
      owners.claim(
        name,
        one,
        other =>
          `${other} and ${one.name} both declare the ${what} "${name}", which only one plugin can own: rename that of ${one.name}${what === 'collection' ? `, for instance to "${one.name}.${name.split('.').at(-1)}"` : ''}, or remove the plugin from "plugins"`,
      )
  return owners
}

const refuseOddCollections = (plugins: readonly NamedPlugin[]): void => {
  for (const { name, plugin } of plugins)
    for (const { name: collection } of plugin.collections ?? [])
      if (!collectionPattern.test(collection))
        throw new StartupError(
          `${name} declares the collection "${collection}": a name consists of lower-case letters, digits and hyphens, in parts joined by dots, such as ${name}`,
        )
}

const refuseIds = (plugins: readonly NamedPlugin[]): void => {
  const owners = new Owners(kernel, [])
  for (const one of plugins)
    owners.claim(
      one.plugin.id,
      one,
      other =>
        `${other} and ${one.name} are different plugins that both have the id ${one.plugin.id}: change it in one of them, or remove one from "plugins"`,
    )
}

const refuseTwice = (plugin: string, what: string, names: readonly string[]): void => {
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new StartupError(`${plugin} has two ${what} named ${twice}: rename one of them`)
}

const refuseUnknownEvents = (plugins: readonly NamedPlugin[], types: Owners): void => {
  for (const { name, plugin } of plugins)
    for (const { types: wanted, name: consumer } of plugin.handlers ?? [])
      for (const type of wanted === '*' ? [] : wanted)
        if (!types.has(type))
          throw new StartupError(
            `${name}: the handler ${consumer} consumes the event type "${type}", which no plugin declares${didYouMean(type, types.names, 0.4)}: correct it, or load the plugin whose definition has it in "events"`,
          )
}

/** Rejects plugins that claim names of another one, and handlers of undeclared event types. */
export const refuseForeign = (plugins: readonly NamedPlugin[]): void => {
  refuseIds(plugins)
  refuseOddCollections(plugins)
  const ofKernel = kernelCollections.map(({ name }) => name)
  claimAll(plugins, 'collection', ({ collections = [] }) => collections.map(({ name }) => name), new Owners(kernel, ofKernel))
  claimAll(plugins, 'permission', ({ permissions = {} }) => Object.keys(permissions), new Owners(sdk, [...allPermissions]))
  claimAll(plugins, 'kind', ({ resources = [] }) => resources.map(({ kind }) => kind), new Owners(sdk, []))
  refuseUnknownEvents(
    plugins,
    claimAll(plugins, 'event type', ({ events = [] }) => events, new Owners(sdk, eventTypes)),
  )
  for (const { name, plugin } of plugins) {
    for (const { name: consumer } of plugin.handlers ?? [])
      if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(consumer))
        throw new StartupError(`${name}: invalid handler name "${consumer}": use lower-case letters, digits and hyphens`)
    const consumers = (plugin.handlers ?? []).map(subscription => consumerName({ plugin: name, subscription }))
    refuseTwice(name, 'handlers', consumers)
    const back = plugin.formerHandlers?.find(former => consumers.includes(`${name}/${former}`))
    if (back !== undefined)
      throw new StartupError(`${name} has a handler ${back} and names it in "formerHandlers": remove it from that list`)
    refuseTwice(
      name,
      'periodic tasks',
      (plugin.periodic ?? []).map(task => task.name),
    )
  }
}
