import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Caller, Installation, Invalid, NoSpace, type Parts, signedIn, Unavailable, wire } from 'pounce/sdk'
import { type FilePart, isDiskFull } from 'pounce/sdk/kit'
import { BagImport, type HiddenDataset } from './bag-import.ts'
import { IncomingZip } from './incoming-zip.ts'
import { ReceivedBag } from './received-bag.ts'

const failing: ReadonlySet<unknown> = new Set(['EIO', 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'EEXIST', 'EMFILE', 'ENFILE'])

/** The error for a client whose archive cannot be written or read; other errors are returned unchanged. */
const asProblem = (error: unknown): unknown => {
  if (isDiskFull(error)) return new NoSpace(undefined, { cause: error })
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return failing.has(code) ? new Unavailable('The folder for received archives is not working', { cause: error }) : error
}

/** An archive in a temporary file. */
interface Received {
  readonly path: string
  readonly archiveName: string
}

/** Receives bags as uploads. They are written to a temporary file first, because the directory of a ZIP is at its end. */
export class BagUploads {
  #folder: string
  #imports: BagImport

  constructor(installation: Installation, imports: BagImport) {
    this.#folder = join(installation.dataFolder, 'bags')
    this.#imports = imports
  }

  /** Removes files left by an interrupted run. */
  async start(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** Creates a dataset from each bag among the parts, all or none. Returns the id of the last one, as Clowder v1 does. */
  async take(parts: Parts, caller: Caller, signal: AbortSignal): Promise<string> {
    const received: Received[] = []
    try {
      for await (const part of parts) {
        if (part.kind === 'field') continue
        if (!/\.zip$/i.test(part.filename)) {
          part.skip()
          continue
        }
        const path = join(this.#folder, `${randomUUID()}.zip`)
        received.push({ path, archiveName: part.filename })
        await this.#receive(part, path, signal)
      }
      return await this.#importAll(received, caller, signal)
    } catch (error) {
      throw asProblem(error)
    } finally {
      // What cannot be removed now is removed by the next start; the datasets exist already.
      for (const { path } of received) await rm(path, { force: true }).catch(() => undefined)
    }
  }

  async #receive(part: FilePart, path: string, signal: AbortSignal): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    await pipeline(part.stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal })
  }

  async #importAll(received: readonly Received[], caller: Caller, signal: AbortSignal): Promise<string> {
    await using built = new AsyncDisposableStack()
    const datasets: HiddenDataset[] = []
    for (const each of received) datasets.push(built.use(await this.#build(each, caller, signal)))
    const last = datasets.at(-1)
    if (!last) throw new Invalid('No bag found: send a part with a file whose name ends in .zip')
    for (const dataset of datasets) await dataset.reveal()
    for (const dataset of datasets) dataset.keep()
    return last.id
  }

  async #build({ path, archiveName }: Received, caller: Caller, signal: AbortSignal): Promise<HiddenDataset> {
    await using file = await open(path, 'r')
    const bag = await ReceivedBag.open(await IncomingZip.open(file, signal))
    return await this.#imports.build(bag, { user: signedIn(caller), keyId: caller.keyId, archiveName, signal })
  }
}
wire(BagUploads, Installation, BagImport)
