// Plain JavaScript, like main.js, which loads it first. AVA loads it into every test process.
import { readFileSync } from 'node:fs'
import module from 'node:module'

// Node resolves each import by searching all parent folders for a package.json, which takes a sixth of the start time. Relative paths, URLs and `pounce/sdk`
// in our own files need no lookup, and neither do built-in modules.
const root = new URL('../', import.meta.url).href
const { exports: exported } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const sdk = new Map(Object.entries(exported).map(([name, file]) => [`pounce${name.slice(1)}`, new URL(file, root).href]))
const packages = `${root}node_modules/`
const relative = /^(\.\/|(?:\.\.\/)+)([^.].*)$/
const urlOf = (specifier, parentURL) => {
  if (!specifier.endsWith('.ts')) return sdk.get(specifier)
  const [, dots, path] = relative.exec(specifier) ?? []
  if (path !== undefined) {
    // No URL object: creating two thousand of them would add 10 ms to the start.
    const folders = parentURL.split('/').slice(0, dots === './' ? -1 : -1 - dots.length / 3)
    return `${folders.join('/')}/${path}`
  }
  return specifier.startsWith(root) && !specifier.startsWith(packages) ? specifier : undefined
}
module.registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context
    if (!parentURL?.startsWith(root)) return next(specifier, context)
    if (specifier.startsWith('node:') && module.isBuiltin(specifier)) return { url: specifier, format: 'builtin', shortCircuit: true }
    const url = urlOf(specifier, parentURL)
    return url === undefined ? next(specifier, context) : { url, format: 'module-typescript', shortCircuit: true }
  },
})
