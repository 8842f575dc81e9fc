import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { ExtractorOutput } from '../../sdk/ports/extractor.ts'

/** What a run in a process of its own gave, and the most memory that the process ever held. */
export interface RunApart {
  readonly output: ExtractorOutput
  readonly peakBytes: number
}

const program = `
  const [module, path, contentType] = process.argv.slice(1)
  const { statSync } = await import('node:fs')
  const { dirname, basename } = await import('node:path')
  const { extract } = await import(module)
  const output = await extract({
    path, contentType, filename: basename(path), sizeBytes: statSync(path).size, outputFolder: dirname(path), parameters: {},
    signal: new AbortController().signal, progress() {},
  })
  process.stdout.write(JSON.stringify({ output, peakBytes: process.resourceUsage().maxRSS * 1024 }))
`

/** Runs an extractor with a heap of `heapMb` only. Files that it writes stay beside the input. */
export async function extractApart(module: URL, path: string, contentType: string, heapMb: number): Promise<RunApart> {
  const flags = [`--max-old-space-size=${heapMb}`, '--disable-warning=ExperimentalWarning', '--input-type=module']
  const options = { cwd: dirname(path), maxBuffer: 10 << 20 }
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', program, '--', module.href, path, contentType], options)
  return JSON.parse(stdout)
}
