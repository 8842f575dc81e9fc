#!/usr/bin/env -S node --max-semi-space-size=4
// In plain JavaScript: one TypeScript file that is not in the compile cache yet makes Node load its type stripper,
// 17 MB and 60 ms, and the first file never is. Everything else is TypeScript. V8 reads the flag above when it starts: see docs/decisions/0003.
import { readFileSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 7)) {
  process.stderr.write(
    `Pounce needs Node 24.7 or newer, and this is ${process.version}. \`npm ci\` installs one that \`npm start\` and \`npm run pounce\` use.\n`,
  )
  process.exit(1)
}

// With modules compiled the last time a start takes half the time. Threads and child processes find the place by the variable; without it each of them
// would load the type stripper.
process.env['NODE_COMPILE_CACHE'] ??= join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'pounce', 'compiled')
module.enableCompileCache(process.env['NODE_COMPILE_CACHE'])

// Node resolves each import of the program by walking up the folders for a package.json: a sixth of the time of a start. What a file of ours names by
// a relative path, by its URL, or as `pounce/sdk`, is known without looking, and so is a module of Node.
const root = new URL('../', import.meta.url).href
const { exports: exported } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const sdk = new Map(Object.entries(exported).map(([name, file]) => [`pounce${name.slice(1)}`, new URL(file, root).href]))
const packages = `${root}node_modules/`
const urlOf = (specifier, parentURL) => {
  if (!specifier.endsWith('.ts')) return sdk.get(specifier)
  if (specifier.startsWith('.')) return new URL(specifier, parentURL).href
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

const { run } = await import('./cli/run.ts')
const { surviveClosedPipes } = await import('./cli/output.ts')
surviveClosedPipes()
process.exitCode = await run(process.argv.slice(2))
// A plugin whose start was given up may have left timers and sockets that would keep the process. What is still being written goes first.
setInterval(() => {
  if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit()
}, 200).unref()
