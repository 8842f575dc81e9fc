// Plain JavaScript, like main.js, which loads it first.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const note = folder => join(folder, 'generation.json')

const read = folder => {
  try {
    return JSON.parse(readFileSync(note(folder), 'utf8'))
  } catch {
    return undefined
  }
}

/** Removes the cache of an older bundle, and those of installations that no longer exist. */
const begin = (all, folder, generation) => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(all))
    if (!existsSync(read(join(all, name))?.root ?? '')) rmSync(join(all, name), { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(note(folder), JSON.stringify({ root, generation }))
}

/**
 * Cached compiled modules halve the start time. Threads and child processes find the cache through the environment variable; without it each of them
 * would load the type stripper. Each installation has its own folder, which holds the compiled modules of one bundle.
 */
export const enableCompileCache = generation => {
  if (process.env['NODE_COMPILE_CACHE'] === undefined) {
    const all = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'pounce', 'compiled')
    const folder = join(all, createHash('sha256').update(root).digest('hex').slice(0, 12))
    try {
      if (read(folder)?.generation !== generation) begin(all, folder, generation)
    } catch {
      // The home folder is not writable: Node continues without a cache.
    }
    process.env['NODE_COMPILE_CACHE'] = folder
  }
  module.enableCompileCache(process.env['NODE_COMPILE_CACHE'])
}
