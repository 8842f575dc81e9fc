import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Caller, Installation, Invalid, NoSpace, type Parts, signedIn, wire } from 'pounce/sdk'
import type { FilePart } from 'pounce/sdk/kit'
import { BagImport } from './bag-import.ts'
import { IncomingZip } from './incoming-zip.ts'
import { ReceivedBag } from './received-bag.ts'

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')

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

  /** Returns the id of the dataset that was created from the bag among the parts. */
  async take(parts: Parts, caller: Caller, signal: AbortSignal): Promise<string> {
    const path = join(this.#folder, `${randomUUID()}.zip`)
    let archiveName: string | undefined
    try {
      for await (const part of parts) {
        if (part.kind === 'field') continue
        if (!/\.zip$/i.test(part.filename)) {
          part.skip()
          continue
        }
        if (archiveName !== undefined) throw new Invalid('Send one bag at a time')
        archiveName = part.filename
        await this.#receive(part, path, signal)
      }
      if (archiveName === undefined) throw new Invalid('No bag found: send a part with a file whose name ends in .zip')
      return await this.#import(path, archiveName, caller, signal)
    } finally {
      await rm(path, { force: true })
    }
  }

  async #receive(part: FilePart, path: string, signal: AbortSignal): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    try {
      await pipeline(part.stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal })
    } catch (error) {
      throw isFull(error) ? new NoSpace(undefined, { cause: error }) : error
    }
  }

  async #import(path: string, archiveName: string, caller: Caller, signal: AbortSignal): Promise<string> {
    await using file = await open(path, 'r')
    const bag = await ReceivedBag.open(await IncomingZip.open(file, signal))
    return await this.#imports.import(bag, { user: signedIn(caller), keyId: caller.keyId, archiveName, signal })
  }
}
wire(BagUploads, Installation, BagImport)
