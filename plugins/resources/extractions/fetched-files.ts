import { anonymousUserId, BlobStore, type Caller, Fetch, Files, Invalid, port, type s, wire } from 'pounce/sdk'
import { Config, type config } from './config.ts'

const timeoutMs = 300_000

/** The last part of the address, as far as it can be the name of a file. */
const nameIn = (url: string): string => {
  const last = new URL(url).pathname.split('/').findLast(part => part !== '') ?? ''
  let name = last
  try {
    name = decodeURIComponent(last)
  } catch {
    // not an encoded text: the name is as it stands
    name = last
  }
  const plain = Array.from(name.normalize('NFC'), each => (/[\p{Cc}/\\]/u.test(each) ? '_' : each))
    .join('')
    .slice(0, 255)
    .trim()
  return plain === '' || plain === '.' || plain === '..' ? 'download' : plain
}

/** Fetches bytes from outside and makes files of them. */
export class FileFetching {
  #maxBytes: number
  #fetch: Fetch
  #blobs: BlobStore
  #files: Files

  constructor({ maxUrlBytes }: s.Static<typeof config>, fetch: Fetch, blobs: BlobStore, files: Files) {
    this.#maxBytes = maxUrlBytes
    this.#fetch = fetch
    this.#blobs = blobs
    this.#files = files
  }

  /** Resolves to the id of the new file, which lies in no dataset. */
  async take(url: string, caller: Caller, signal: AbortSignal): Promise<string> {
    if (!URL.canParse(url) || !/^https?:/i.test(url)) throw new Invalid('fileurl must be an http or https address')
    const answer = await this.#fetch.get(url, { maxBytes: this.#maxBytes, timeoutMs })
    if (answer.status !== 200) {
      answer.body.destroy()
      throw new Invalid(`The address answered with ${answer.status}, not with a file`)
    }
    const { key, sizeBytes, sha256 } = await this.#blobs.put(answer.body, { signal })
    const contentType = answer.contentType.split(';')[0]?.trim().toLowerCase() || 'application/octet-stream'
    const author = caller.user?.id ?? anonymousUserId
    const file = await this.#files.create({
      ...{ name: nameIn(answer.url), contentType, blob: key, sizeBytes, sha256, author, extract: false },
      ...(caller.keyId === undefined ? {} : { keyId: caller.keyId }),
    })
    return file.id
  }
}
wire(FileFetching, Config, Fetch, BlobStore, Files)

export const FetchedFiles = port<FileFetching>('extractions.fetched-files')
