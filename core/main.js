#!/usr/bin/env -S node --max-semi-space-size=4
// In plain JavaScript: one TypeScript file that is not in the compile cache yet makes Node load its type stripper,
// 17 MB and 60 ms, and the first file never is. Everything else is TypeScript. V8 reads the flag above when it starts: see docs/decisions/0214.
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

// With modules compiled the last time a start takes half the time. Threads and child processes find the place by the variable; without it each of them
// would load the type stripper.
process.env['NODE_COMPILE_CACHE'] ??= join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'pounce', 'compiled')
enableCompileCache(process.env['NODE_COMPILE_CACHE'])

const { run } = await import('./cli/run.ts')
process.exitCode = await run(process.argv.slice(2))
