import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { Extract, ExtractorInput, ExtractorOutput } from '../../sdk/ports/extractor.ts'

/** The output of a run, with the bytes of its files. */
export interface ExtractorRun extends ExtractorOutput {
  readonly progress: readonly string[]
  /** The bytes of `previews[at]`. */
  preview(at: number): Promise<Buffer>
  thumbnailBytes(): Promise<Buffer>
}

/** The path of a file of `test/data`. */
export const testFile = (name: string): string => fileURLToPath(new URL(`../data/${encodeURIComponent(name)}`, import.meta.url))

/** A folder that is deleted after the test. */
export async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-extract-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A file with the given bytes that is deleted after the test. */
export async function temporaryFile(t: ExecutionContext, name: string, bytes: string | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(t), name)
  await writeFile(path, bytes)
  return path
}

/** Runs an extractor on a file in this process, like the queue does in a child process. */
export async function runExtractor(
  t: ExecutionContext,
  extract: Extract,
  path: string,
  options: Partial<ExtractorInput> = {},
): Promise<ExtractorRun> {
  const outputFolder = await temporaryFolder(t)
  const progress: string[] = []
  const output = await extract({
    path,
    filename: basename(path),
    contentType: 'application/octet-stream',
    sizeBytes: (await stat(path)).size,
    outputFolder,
    parameters: {},
    signal: new AbortController().signal,
    progress: message => void progress.push(message),
    ...options,
  })
  const read = (file: { readonly path: string } | undefined) => readFile(join(outputFolder, file?.path ?? 'nothing was written'))
  return {
    ...output,
    progress,
    preview: at => read(output.previews?.[at]),
    thumbnailBytes: () => read(output.thumbnail),
  }
}
