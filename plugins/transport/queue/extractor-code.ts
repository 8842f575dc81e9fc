import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/[\\/]$/, '')
const builtIn = join(root, 'plugins', 'extractors')

/** The folders from here up to the root of the file system. */
function* upFrom(folder: string): Generator<string> {
  for (let at = folder; ; at = dirname(at)) {
    yield at
    if (dirname(at) === at) return
  }
}

const libraries = (folder: string): readonly string[] => [...upFrom(folder)].map(each => join(each, 'node_modules')).filter(existsSync)

/** The folder of a package: the nearest one with a `package.json`, unless that is Pounce itself, which holds more than the extractor. */
function ownFolder(module: string): string {
  if (module.startsWith(builtIn + sep)) return builtIn
  const own = dirname(module)
  for (const folder of upFrom(own)) {
    if (folder === root) return own
    if (existsSync(join(folder, 'package.json'))) return folder
  }
  return own
}

/**
 * Files and folders that running a module needs: its own package, `node_modules` of its own and of Pounce, the SDK and the program that runs it.
 * Neither Pounce's config nor its data, which may lie beside them.
 */
export function codeOf(module: URL): readonly string[] {
  const runs = [join(root, 'package.json'), join(root, 'sdk'), join(root, 'plugins', 'transport', 'queue'), ...libraries(root)]
  const own = module.protocol === 'file:' ? fileURLToPath(module) : undefined
  const all = own === undefined ? runs : [...runs, ownFolder(own), ...libraries(dirname(own))]
  // Both the name that Node is told and the place it leads to.
  return [...new Set(all.filter(existsSync).flatMap(path => [path, realpathSync(path)]))]
}
