import { hash } from 'node:crypto'
import { noteEntry } from './archive-writer.ts'
import type { BagSubject } from './bag-documents.ts'
import { type BagFacts, bagInfoTxt, bagitTxt } from './bag-tags.ts'
import { Manifest } from './manifest.ts'
import type { ZipEntry } from './zip-members.ts'

/** A file of the payload, whose digest is known before its bytes are read. */
export interface Payload {
  readonly entry: ZipEntry
  /** Hex. */
  readonly sha256: string
}

/** Further tag files, by path. */
export type TagFiles = (payloadBytes: number) => ReadonlyMap<string, string>

export interface BagPlan {
  readonly subject: BagSubject
  readonly facts: Pick<BagFacts, 'agent' | 'day'>
  /** The payload in its order; paths begin with `data/`. An entry for a folder has no bytes and a path that ends in a slash. */
  readonly payload: AsyncIterable<Payload | ZipEntry>
  readonly tagFiles: TagFiles
}

const manifestPath = 'manifest-sha256.txt'

/**
 * The entries of a bag in the order of v1: the payload, `bagit.txt`, `bag-info.txt`, the manifest, further tag files, and the manifest of all
 * these. One pass: nothing is read before it is written, as the store knows the SHA-256 of each file.
 */
export async function* bagEntries({ subject, facts, payload, tagFiles }: BagPlan): AsyncGenerator<ZipEntry> {
  const manifest = new Manifest()
  const tagManifest = new Manifest()
  let payloadBytes = 0
  let payloadFiles = 0
  for await (const part of payload) {
    if ('path' in part) {
      yield part
      continue
    }
    manifest.add(part.entry.path, part.sha256)
    payloadBytes += part.entry.sizeBytes
    payloadFiles += 1
    yield part.entry
  }
  const written = new Date()
  const tag = (path: string, bytes: Buffer): ZipEntry => {
    tagManifest.add(path, hash('sha256', bytes))
    return noteEntry(path, bytes, written)
  }
  yield tag('bagit.txt', Buffer.from(bagitTxt))
  yield tag('bag-info.txt', Buffer.from(bagInfoTxt(subject, { ...facts, payloadBytes, payloadFiles })))
  const { sha256, ...lines } = manifest.finish()
  tagManifest.add(manifestPath, sha256)
  yield { path: manifestPath, modified: written, ...lines }
  for (const [path, text] of tagFiles(payloadBytes)) yield tag(path, Buffer.from(text))
  yield { path: 'tagmanifest-sha256.txt', modified: written, ...tagManifest.finish() }
}
