import { resolve } from 'node:path'
import { mergeParts } from '../kernel/config/schema-tree.ts'
import { type ConfigSources, fileLayers, outsideLayers, settingsOnly } from '../kernel/config.ts'

/** The configured data folder. Loads no plugins and validates nothing else. */
export const dataFolderOf = async (sources: ConfigSources): Promise<string> => {
  const schema = settingsOnly('data')
  const { layers } = outsideLayers(sources, mergeParts([{ name: 'kernel', path: [], schema }]))
  const layer = [...(await fileLayers(sources)), ...layers].findLast(({ settings }) => 'data' in settings)
  return resolve(String(layer?.settings['data'] ?? schema.properties?.['data']?.default))
}
