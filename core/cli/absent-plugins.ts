import { DocumentStore, GeoStore, type Plugin } from 'pounce/sdk'
import type { Kernel } from '../kernel/kernel.ts'
import { installationId, metaRecords } from '../kernel/kernel-records.ts'
import { loadPlugins } from '../kernel/plugins.ts'
import { StartupError } from '../kernel/startup-error.ts'
import { isOwnPlugin } from '../own-plugins.ts'

/** The plugins that the installation has used and the kernel has not loaded. External ones cannot be loaded: they may not be installed. */
async function absentPlugins(kernel: Kernel): Promise<ReadonlyMap<string, Plugin | undefined>> {
  const meta = await kernel.get(DocumentStore).get(metaRecords, installationId)
  const loaded = new Set(kernel.config.plugins.map(({ plugin }) => plugin.id))
  const ids = (meta?.plugins ?? []).filter(id => !loaded.has(id)).sort()
  const own = await loadPlugins(ids.filter(isOwnPlugin).map(plugin => ({ plugin })))
  return new Map(ids.map(id => [id, own.find(({ plugin }) => plugin.id === id)?.plugin]))
}

async function hasRecords(documents: DocumentStore, { collections = [] }: Plugin): Promise<boolean> {
  await documents.declare(collections)
  for (const one of collections) for await (const _document of documents.walk(one)) return true
  return false
}

/**
 * Refuses to omit the records of plugins that are not loaded, since their collections are unknown, unless they are in `skipped`. Resolves to the plugins whose
 * records are omitted.
 */
export async function refuseAbsentPlugins(kernel: Kernel, skipped: readonly string[]): Promise<readonly string[]> {
  const documents = kernel.get(DocumentStore)
  const absent: string[] = []
  for (const [id, plugin] of await absentPlugins(kernel)) if (!plugin || (await hasRecords(documents, plugin))) absent.push(id)
  const refused = absent.filter(id => !skipped.includes(id))
  if (refused.length > 0)
    throw new StartupError(
      `This installation has used plugins that are not loaded, and their records would not be migrated: ${refused.join(', ')}. Add them to "plugins", or migrate without their records: --skip-plugins ${absent.join(',')}`,
    )
  return absent
}

/** Refuses to leave datapoints in a store that is no longer configured. */
export async function refuseForgottenPoints(kernel: Kernel, [from, to]: readonly [string, string]): Promise<void> {
  const configured = kernel.graph.order.find(({ name }) => name === kernel.graph.providers.get(GeoStore))?.plugin.id
  const meta = await kernel.get(DocumentStore).get(metaRecords, installationId)
  if (configured === undefined || meta?.plugins.includes(configured)) return
  for (const [id, plugin] of await absentPlugins(kernel)) {
    if (!plugin?.provides?.some(({ port }) => port === GeoStore)) continue
    const [old, next] = [id, configured].map(one => one.replace(/^geo\./, ''))
    throw new StartupError(
      `The datapoints are in ${id}, but ${configured} is configured: migrate them too, with --from ${from}+${old} --to ${to}+${next}, or configure ${id} for this command to leave them there`,
    )
  }
}
