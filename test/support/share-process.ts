import { readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProcess } from '../../scripts/test-processes.ts'

const root = new URL('../../', import.meta.url)
const shared = new URL('shared-test.ts', import.meta.url)

/** CPU time of this process and, on Linux, of its terminated children, in ms. */
const usedMs = (): number => {
  const { user, system } = process.cpuUsage()
  let children = 0
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    children = (Number(fields[13]) + Number(fields[14])) * 10
  } catch {
    // Not Linux.
  }
  return (user + system) / 1000 + children
}

const loadTogether = async (files: readonly string[]): Promise<void> => {
  const urls = new Map(files.map(file => [new URL(file, root).href, file]))
  registerHooks({
    resolve(specifier, context, next) {
      const file = specifier === 'ava' ? urls.get(context.parentURL ?? '') : undefined
      if (file === undefined) return next(specifier, context)
      return { url: `${shared}?file=${encodeURIComponent(file)}`, format: 'module-typescript', shortCircuit: true }
    },
  })
  for (const url of urls.keys()) await import(url)
  const { declareAll } = await import('./deferred-declarations.ts')
  declareAll()
}

/**
 * Loaded by AVA into every worker, last. With `POUNCE_TEST_PROCESSES`, a file with a plan, a worker also runs the other files of its process. Titles
 * are prefixed with the path of their file, and all declarations are deferred until the last file is loaded, because AVA starts at the first
 * declaration. With `POUNCE_TEST_TIMES`, a folder, the worker writes its CPU time there.
 */
export default async (): Promise<void> => {
  const { POUNCE_TEST_PROCESSES: planPath, POUNCE_TEST_TIMES: times } = process.env
  if (planPath === undefined) return
  const { default: test } = await import('ava')
  const own = fileURLToPath(test.meta.file).slice(fileURLToPath(root).length).replaceAll('\\', '/')
  const plan = JSON.parse(readFileSync(planPath, 'utf8')) as readonly TestProcess[]
  const files = plan.find(([first]) => first === own) ?? [own]
  if (times !== undefined) {
    process.on('exit', () => writeFileSync(join(times, `${process.pid}.json`), JSON.stringify({ files, ms: Math.round(usedMs()) })))
  }
  if (files.length > 1) await loadTogether(files)
}
