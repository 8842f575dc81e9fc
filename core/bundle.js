// Plain JavaScript, like main.js, which loads it first. The bundle is the server in a few files; see docs/decisions/0045.
import { readFileSync, statSync } from 'node:fs'
import module from 'node:module'

const folder = new URL('../dist/', import.meta.url)
const root = new URL('../', import.meta.url)

/** Container image layers store modification times in whole seconds. */
const isSameTime = (now, then) => now === then || now === Math.floor(then / 1000) * 1000

const isUnchanged = ([path, sizeBytes, changed]) => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && found.size === sizeBytes && isSameTime(found.mtimeMs, changed)
}

/**
 * The bundle, if none of its source files has changed since it was built: checking a thousand files takes 4 ms. A package contains only the bundle and no
 * source files to compare it with.
 */
export const currentBundle = (manifest = new URL('manifest.json', folder)) => {
  let found
  try {
    found = JSON.parse(readFileSync(manifest, 'utf8'))
  } catch {
    return undefined
  }
  const { pathname } = root
  const path = decodeURIComponent(process.platform === 'win32' ? pathname.slice(1) : pathname)
  for (const [name, ...stamp] of found.files ?? []) if (!isUnchanged([path + name, ...stamp])) return undefined
  const url = new URL(found.folder, manifest).href
  return { id: found.id, url, entry: url + found.entry, sdk: found.sdk }
}

/** External plugins, migrations and all other importers of the SDK get the bundled one: the classes of a second copy would not match the kernel's. */
export const resolveInBundle = ({ url, sdk }) => {
  const entries = new Map(Object.entries(sdk).map(([name, file]) => [name, url + file]))
  module.registerHooks({
    resolve(specifier, context, next) {
      const entry = entries.get(specifier)
      if (entry !== undefined) return { url: entry, format: 'module', shortCircuit: true }
      if (!context.parentURL?.startsWith(url)) return next(specifier, context)
      if (specifier.startsWith('node:') && module.isBuiltin(specifier)) return { url: specifier, format: 'builtin', shortCircuit: true }
      return next(specifier, context)
    },
  })
}
