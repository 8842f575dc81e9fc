import { BlobStore, DocumentStore, GeoStore } from 'pounce/sdk'
import { type Config, type ConfigSources, loadConfig } from '../config.ts'
import { loadPlugins, ownPluginFile, ownPluginIds } from '../plugins.ts'
import { StartRefused } from '../start-refused.ts'

/** Which plugins keep records, bytes and points. */
export interface Side {
  readonly documents: string
  readonly blobs: string
  /** Absent: the one that is configured, if any. */
  readonly points?: string
}

/** `sqlite+disk` is `documents.sqlite` and `blobs.disk`; with `+rtree` besides `geo.rtree`. */
export function parseSide(text: string, option: string): Side {
  const [documents, blobs, points, ...more] = text.split('+').map(part => part.trim())
  if (!documents || !blobs || points === '' || more.length > 0)
    throw new StartRefused(
      `${option} ${text}: name the store of records and the store of bytes, such as sqlite+disk or mongodb+s3, and, to move points, the store of points: sqlite+disk+rtree`,
    )
  const side = { documents: `documents.${documents}`, blobs: `blobs.${blobs}`, ...(points ? { points: `geo.${points}` } : {}) }
  for (const id of Object.values(side))
    if (ownPluginFile(id) === undefined) throw new StartRefused(`${option} ${text}: ${id} is not part of this version`)
  return side
}

/** Those of our plugins that keep what the sides name. */
async function storePlugins(withPoints: boolean): Promise<readonly string[]> {
  const kinds = withPoints ? /^(documents|blobs|geo)\./ : /^(documents|blobs)\./
  const loaded = await loadPlugins(
    ownPluginIds()
      .filter(id => kinds.test(id))
      .map(plugin => ({ plugin })),
  )
  const stores: readonly string[] = [DocumentStore, BlobStore, GeoStore]
  return loaded.flatMap(({ plugin }) =>
    // What only stands in front of a store goes with either side.
    !plugin.wraps && plugin.provides?.some(({ port }) => stores.includes(port)) ? [plugin.id] : [],
  )
}

/** The configuration with the stores of one side, whatever it says otherwise. Settings of other stores are left out. */
export async function configFor({ documents, blobs, points }: Side, sources: ConfigSources): Promise<Config> {
  const stores = await storePlugins(points !== undefined)
  for (const id of [documents, blobs]) if (!stores.includes(id)) throw new StartRefused(`${id} keeps neither records nor bytes`)
  if (points !== undefined && !stores.includes(points)) throw new StartRefused(`${points} keeps no points`)
  const these = [documents, blobs, ...(points === undefined ? [] : [points])]
  return loadConfig({ ...sources, instead: { of: stores.filter(id => !these.includes(id)), these } })
}
