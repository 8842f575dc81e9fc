#!/usr/bin/env -S node --max-semi-space-size=4
// In plain JavaScript: one TypeScript file that is not in the compile cache yet makes Node load its type stripper,
// 17 MB and 60 ms, and the first file never is. Everything else is TypeScript. V8 reads the flag above when it starts: see docs/decisions/0003.
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

await import('./resolve.js')
const { run } = await import('./cli/run.ts')
const { standardOutput, surviveClosedPipes } = await import('./cli/output.ts')
surviveClosedPipes()
process.exitCode = await run(process.argv.slice(2), standardOutput)
// A plugin whose start was given up may have left timers and sockets that would keep the process. What is still being written goes first.
setInterval(() => {
  if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit()
}, 200).unref()
