#!/usr/bin/env node
// The one file that is not TypeScript: Node would load its compiler (20 MB, 100 ms) for it before the cache of compiled modules is on.
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'

// Before anything else is loaded: with compiled modules from the last time a start takes a third of the time.
enableCompileCache(join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'pounce', 'compiled'))

// What a start throws away would let the young generation grow to 32 MB, which an idle server then keeps. Under load it may grow.
const startMs = 2000
setFlagsFromString('--semi-space-growth-factor=1')
setTimeout(() => setFlagsFromString('--semi-space-growth-factor=2'), startMs).unref()

const { run } = await import('./cli/run.ts')
process.exitCode = await run(process.argv.slice(2))
