import { BlobStore, DocumentStore } from 'pounce/sdk'
import { type Config, type ConfigSources, loadConfig } from '../config.ts'
import { loadPlugins, ownPluginFile, ownPluginIds } from '../plugins.ts'
import { StartRefused } from '../start-refused.ts'

/** Which plugins keep records and bytes. */
export interface Side {
  readonly documents: string
  readonly blobs: string
}

/** `sqlite+disk` is `documents.sqlite` and `blobs.disk`. */
export function parseSide(text: string, option: string): Side {
  const [documents, blobs, ...more] = text.split('+').map(part => part.trim())
  if (!documents || !blobs || more.length > 0)
    throw new StartRefused(`${option} ${text}: name the store of records and the store of bytes, such as sqlite+disk or mongodb+s3`)
  const side = { documents: `documents.${documents}`, blobs: `blobs.${blobs}` }
  for (const id of [side.documents, side.blobs])
    if (ownPluginFile(id) === undefined) throw new StartRefused(`${option} ${text}: ${id} is not part of this version`)
  return side
}

/** Those of our plugins that keep records or bytes. */
async function storePlugins(): Promise<readonly string[]> {
  const ids = ownPluginIds().filter(id => /^(documents|blobs)\./.test(id))
  const loaded = await loadPlugins(ids.map(plugin => ({ plugin })))
  return loaded.flatMap(({ plugin }) =>
    // What only stands in front of a store goes with either side.
    !plugin.wraps && plugin.provides?.some(({ port }) => port === DocumentStore || port === BlobStore) ? [plugin.id] : [],
  )
}

/** The configuration with the stores of one side, whatever it says otherwise. Settings of other stores are left out. */
export async function configFor({ documents, blobs }: Side, sources: ConfigSources): Promise<Config> {
  const stores = await storePlugins()
  for (const id of [documents, blobs]) if (!stores.includes(id)) throw new StartRefused(`${id} keeps neither records nor bytes`)
  const these = [documents, blobs]
  return loadConfig({ ...sources, instead: { of: stores.filter(id => !these.includes(id)), these } })
}
