import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { ExtractorOutput } from '../../sdk/ports/extractor.ts'

/** The result of a run in a separate process, and the peak memory of that process. */
export interface RunApart {
  readonly output: ExtractorOutput
  readonly peakBytes: number
}

const program = `
  const [module, path, contentType] = process.argv.slice(1)
  const { existsSync, readFileSync, statSync } = await import('node:fs')
  const { dirname, basename } = await import('node:path')
  const { extract } = await import(module)
  const output = await extract({
    path, contentType, filename: basename(path), sizeBytes: statSync(path).size, outputFolder: dirname(path), parameters: {},
    signal: new AbortController().signal, progress() {},
  })
  // On Linux maxRSS includes the parent's memory at the time of the fork.
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : ''
  const kilobytes = Number(/VmHWM:\\s+(\\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS)
  process.stdout.write(JSON.stringify({ output, peakBytes: kilobytes * 1024 }))
`

/** Runs an extractor with a heap of `heapMb` and with the same permissions as in the queue. Its output files stay next to the input. */
export async function extractApart(module: URL, path: string, contentType: string, heapMb: number): Promise<RunApart> {
  const rights = [
    '--permission',
    '--allow-fs-read=*',
    `--allow-fs-write=${join(dirname(path), '*')}`,
    '--allow-addons',
    '--allow-child-process',
  ]
  const flags = [...rights, `--max-old-space-size=${heapMb}`, '--disable-warning=ExperimentalWarning', '--disable-warning=SecurityWarning']
  const options = { cwd: dirname(path), maxBuffer: 10 << 20 }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, '--input-type=module', '-e', program, '--', module.href, path, contentType],
    options,
  )
  return JSON.parse(stdout)
}
