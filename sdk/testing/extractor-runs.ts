import { execFile } from 'node:child_process'
import { readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Extractor, ExtractorInput, ExtractorOutput } from '../ports/extractor.ts'

/** A file to run an extractor on, with its declared properties. */
export type ExtractorCase = Pick<ExtractorInput, 'path' | 'contentType'> & Partial<Pick<ExtractorInput, 'filename' | 'parameters'>>

/** The outcome of a run. */
export interface ExtractorEnd {
  readonly cpuMs: number
  readonly outputFolder: string
  /** Absent when it threw. */
  readonly output?: ExtractorOutput
  /** Whether the metadata survives a JSON round trip unchanged. */
  readonly isPlainJson?: boolean
  /** The thrown value as text, and whether it was an Error. */
  readonly thrown?: string
  readonly isError?: boolean
}

const program = `
  const { mkdirSync, readFileSync, statSync, writeFileSync } = await import('node:fs')
  const { basename } = await import('node:path')
  const { isDeepStrictEqual } = await import('node:util')
  const { module, cases, result } = JSON.parse(readFileSync(process.argv[1], 'utf8'))
  const { extract } = await import(module)
  // Some libraries leave unhandled rejections behind. A process with a single run would end; this one must continue with the next run.
  process.on('unhandledRejection', () => undefined)
  process.setMaxListeners(0)
  const ends = []
  for (const given of cases) {
    const before = process.cpuUsage()
    const end = { outputFolder: given.outputFolder }
    mkdirSync(given.outputFolder)
    try {
      end.output = await extract({
        filename: basename(given.path), parameters: {}, ...given,
        sizeBytes: statSync(given.path).size, signal: new AbortController().signal, progress() {},
      })
      const { metadata = null } = end.output
      end.isPlainJson = isDeepStrictEqual(JSON.parse(JSON.stringify(metadata)), metadata)
    } catch (error) {
      end.isError = error instanceof Error
      end.thrown = String(end.isError ? error.message : error)
    }
    const { user, system } = process.cpuUsage(before)
    end.cpuMs = (user + system) / 1000
    ends.push(end)
  }
  writeFileSync(result, JSON.stringify(ends))
  process.exit()
`

/**
 * Runs an extractor on one file after another in a child process, with its declared heap limit and needs and write access only below `folder`, so that neither
 * its input nor anything else can be modified. Rejects if the process dies or has not finished after `limitMs`.
 */
export async function runExtractorApart(
  extractor: Extractor,
  cases: readonly ExtractorCase[],
  { folder, limitMs }: { readonly folder: string; readonly limitMs: number },
): Promise<readonly ExtractorEnd[]> {
  const below = await realpath(folder)
  const result = join(below, 'ends.json')
  const task = join(below, 'task.json')
  const runs = cases.map((each, at) => ({ ...each, outputFolder: join(below, `output-${at}`) }))
  await writeFile(task, JSON.stringify({ module: extractor.module.href, cases: runs, result }))
  const { memoryMb, needs = {} } = extractor
  const rights = ['--permission', '--allow-fs-read=*', `--allow-fs-write=${join(below, '*')}`]
  const more = [
    '--no-warnings',
    `--max-old-space-size=${memoryMb}`,
    ...(needs.nativeAddons ? ['--allow-addons'] : []),
    ...(needs.workerThreads ? ['--allow-worker'] : []),
    ...(needs.childProcesses ? ['--allow-child-process'] : []),
  ]
  await promisify(execFile)(process.execPath, [...rights, ...more, '--input-type=module', '-e', program, '--', task], {
    cwd: below,
    env: { PATH: process.env['PATH'], HOME: below, TMPDIR: below },
    timeout: limitMs,
    killSignal: 'SIGKILL',
    maxBuffer: 10 << 20,
  })
  return JSON.parse(await readFile(result, 'utf8')) as readonly ExtractorEnd[]
}

/** What importing a module loads: ids of packages, except those of the SDK and their dependencies, and URLs of files. */
export async function loadedBy(module: URL): Promise<{ readonly packages: readonly string[]; readonly files: readonly string[] }> {
  const look = `
    const { registerHooks } = await import('node:module')
    await Promise.all(['pounce/sdk', 'pounce/sdk/kit'].map(entry => import(entry)))
    const packages = [], files = []
    registerHooks({
      resolve(name, context, next) {
        const found = next(name, context)
        if (!/^([.]{0,2}[/]|file:|node:|data:|pounce[/]sdk([/]kit)?$)/.test(name) && !found.url.startsWith('node:')) packages.push(name)
        files.push(found.url)
        return found
      },
    })
    await import(${JSON.stringify(module.href)})
    process.stdout.write(JSON.stringify({ packages, files }))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '--input-type=module', '-e', look], {
    cwd: new URL('.', module),
    maxBuffer: 10 << 20,
  })
  return JSON.parse(stdout) as { packages: string[]; files: string[] }
}
