import { createHash, type Hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { Invalid } from 'pounce/sdk'
import type { IncomingZip } from './incoming-zip.ts'
import { algorithms, decode, encodingOfXml, meanings, readFetched, readLabels, readManifest, usualEncoding } from './tag-files.ts'
import type { ZipFileEntry } from './zip-directory.ts'

/** A line of a SHA-512 manifest has 131 characters and a path; there are at most 100,000. */
const maxManifestBytes = 32 * 1024 * 1024
const maxTagBytes = 4 * 1024 * 1024
const maxLabelBytes = 1024 * 1024
const linesBetweenBreaks = 1000

/** The expected digests of a file, by algorithm. */
export type Digests = ReadonlyMap<string, string>

interface Found {
  readonly root: string
  readonly version: string
  readonly encoding: string
  readonly info: ReadonlyMap<string, string>
  /** v1 swaps bagit.txt and bag-info.txt, miscounts its payload, and lists tag files that do not exist. */
  readonly isV1: boolean
}

const shown = (path: string): string => JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path)

/** A bag in a ZIP: its files, by paths inside the bag, and the digests in its manifests. */
export class ReceivedBag {
  readonly info: ReadonlyMap<string, string>
  /** The folder of the bag in the archive; empty if it is at the root. */
  readonly folder: string
  readonly isV1: boolean
  readonly #zip: IncomingZip
  readonly #files: ReadonlyMap<string, ZipFileEntry>
  readonly #folders: ReadonlySet<string>
  readonly #encoding: string
  readonly #digests = new Map<string, Map<string, string>>()

  private constructor(zip: IncomingZip, { root, encoding, info, isV1 }: Found) {
    this.#zip = zip
    this.info = info
    this.isV1 = isV1
    this.folder = root.slice(0, -1)
    this.#encoding = encoding
    this.#files = new Map(
      [...zip.directory.files].filter(([path]) => path.startsWith(root)).map(([path, file]) => [path.slice(root.length), file]),
    )
    this.#folders = new Set([...zip.directory.folders].filter(path => path.startsWith(root)).map(path => path.slice(root.length)))
  }

  /**
   * Finds the bag and checks everything that does not require reading the payload: lists, lengths, tag files. Throws `Invalid` with the
   * reason.
   */
  static async open(zip: IncomingZip): Promise<ReceivedBag> {
    const found = await find(zip)
    const bag = new ReceivedBag(zip, found)
    await bag.#refuseFetching(found.version)
    const names = await bag.#readManifests('manifest-', found.version)
    if (found.isV1) bag.#refuseOtherPayload()
    else {
      if (names.length === 0)
        throw new Invalid(`The bag has no manifest with a supported algorithm: one of ${algorithms.join(', ')} is required`)
      for (const path of bag.payload)
        if (!bag.#digests.has(path)) throw new Invalid(`${JSON.stringify(path)} is in the payload but not in a manifest`)
      bag.#checkOxum()
      await bag.#readManifests('tagmanifest-', found.version)
      for (const path of bag.#digests.keys()) if (!path.startsWith('data/')) await bag.#verify(path)
    }
    return bag
  }

  /** Clowder 1.x imports files of folders named `data` at any depth; ignoring them would lose them. */
  #refuseOtherPayload(): void {
    const other = [...this.#files.keys()].find(path => /^(?!data\/|__MACOSX\/).+\/data\//.test(path))
    if (other !== undefined) throw new Invalid(`${JSON.stringify(other)} is outside of the payload, which is in "data/"`)
  }

  /** Paths of the payload's files; they begin with `data/`. */
  get payload(): readonly string[] {
    return [...this.#files.keys()].filter(path => path.startsWith('data/'))
  }

  /** Paths of the payload's folders that have entries of their own. */
  get folders(): readonly string[] {
    return [...this.#folders].filter(path => path.startsWith('data/'))
  }

  has(path: string): boolean {
    return this.#files.has(path)
  }

  sizeOf(path: string): number {
    return this.#files.get(path)?.sizeBytes ?? 0
  }

  /** The bytes of a file. Throws `Invalid` at the end when they do not match the digests in the manifests. */
  async *read(path: string): AsyncGenerator<Buffer> {
    const file = this.#file(path)
    const expected = [...(this.#digests.get(path) ?? [])].map(([name, digest]) => ({ name, digest, hash: createHash(name) }))
    for await (const chunk of this.#zip.read(file)) {
      for (const { hash } of expected) hash.update(chunk)
      yield chunk
    }
    for (const each of expected) verify(path, each)
  }

  /** A whole tag file or description, verified like any other file. Undefined when it does not exist. */
  async text(path: string, maxBytes = maxTagBytes): Promise<string | undefined> {
    if (!this.#files.has(path)) return undefined
    if (this.sizeOf(path) > maxBytes) throw new Invalid(`${path} has more than ${maxBytes} bytes`)
    const bytes = Buffer.concat(await Array.fromAsync(this.read(path)))
    if (path.endsWith('.xml')) return decode(bytes, encodingOfXml(bytes), path)
    return decode(bytes, path.startsWith('data/') ? usualEncoding : this.#encoding, path)
  }

  async #verify(path: string): Promise<void> {
    // Reading to the end verifies the file.
    for await (const _ of this.read(path));
  }

  #file(path: string): ZipFileEntry {
    const file = this.#files.get(path)
    if (!file) throw new Invalid(`${JSON.stringify(path)} is not in the bag`)
    return file
  }

  /** Files that `fetch.txt` lists may be in the bag already; nothing is fetched. */
  async #refuseFetching(version: string): Promise<void> {
    let lines = 0
    for (const written of readFetched((await this.text('fetch.txt')) ?? '')) {
      if (++lines % linesBetweenBreaks === 0) await setImmediate()
      if (meanings(written, version).some(meant => this.#files.has(meant))) continue
      throw new Invalid(`fetch.txt is not supported: send a complete bag, with ${shown(written)}`)
    }
  }

  /** Reads the manifests of a kind and returns their names. Listed files must exist. */
  async #readManifests(kind: 'manifest-' | 'tagmanifest-', version: string): Promise<readonly string[]> {
    const read: string[] = []
    for (const name of this.#files.keys()) {
      const algorithm = name.startsWith(kind) && name.endsWith('.txt') ? name.slice(kind.length, -4).toLowerCase() : ''
      if (!algorithms.includes(algorithm)) continue
      if (read.some(each => each.toLowerCase() === name.toLowerCase()))
        throw new Invalid(`The bag has ${name} twice, in upper and lower case`)
      read.push(name)
      await this.#readManifest(name, algorithm, version)
    }
    return read
  }

  async #readManifest(name: string, algorithm: string, version: string): Promise<void> {
    let lines = 0
    for (const { path: written, digest } of readManifest((await this.text(name, maxManifestBytes)) ?? '', name)) {
      const path = meanings(written, version).find(meant => this.#files.has(meant)) ?? this.#differentlyEncoded(written)
      if (path === undefined) throw new Invalid(`${name} lists ${shown(written)}, which is not in the bag`)
      const known = this.#digests.get(path) ?? new Map<string, string>()
      // Otherwise a line that is repeated a million times would cost as much as a million files.
      if (known.has(algorithm)) throw new Invalid(`${name} lists ${shown(written)} twice`)
      known.set(algorithm, digest)
      this.#digests.set(path, known)
      if (++lines % linesBetweenBreaks === 0) await setImmediate()
    }
  }

  /** Some systems decompose accented letters, and the manifest may come from another system than the archive. */
  #differentlyEncoded(written: string): string | undefined {
    const wanted = written.normalize('NFC')
    return wanted === written && !/[^\u0000-\u007f]/.test(written) ? undefined : this.#normalized().get(wanted)
  }

  #byNormalName: ReadonlyMap<string, string> | undefined

  #normalized(): ReadonlyMap<string, string> {
    this.#byNormalName ??= new Map([...this.#files.keys()].map(path => [path.normalize('NFC'), path]))
    return this.#byNormalName
  }

  #checkOxum(): void {
    const oxum = this.info.get('payload-oxum')
    if (oxum === undefined) return
    const { payload } = this
    const bytes = payload.reduce((sum, path) => sum + this.sizeOf(path), 0)
    if (oxum !== `${bytes}.${payload.length}`)
      throw new Invalid(`bag-info.txt: Payload-Oxum is ${JSON.stringify(oxum.slice(0, 50))}, but the payload is ${bytes}.${payload.length}`)
  }
}

const verify = (path: string, { name, digest, hash }: { readonly name: string; readonly digest: string; readonly hash: Hash }): void => {
  const actual = hash.digest('hex')
  if (actual !== digest) throw new Invalid(`The ${name} of ${JSON.stringify(path)} is ${actual}, but its manifest has ${digest}`)
}

/** The location of the bag: the root of the archive, or a folder in it. */
const find = async (zip: IncomingZip): Promise<Found> => {
  const paths = [...zip.directory.files.keys()]
  const root = rootOf(paths, 'bagit.txt') ?? rootOf(paths, 'metadata/datacite.xml')
  if (root === undefined) throw new Invalid('Not a bag: bagit.txt is missing')
  const outside = paths.find(path => !path.startsWith(root) && !path.startsWith('__MACOSX/'))
  if (outside !== undefined) throw new Invalid(`${JSON.stringify(outside)} is outside of the bag in ${JSON.stringify(root)}`)
  const labels = async (name: string, encoding: string) => {
    const file = zip.directory.files.get(root + name)
    return file ? readLabels(decode(await zip.small(file, maxLabelBytes), encoding, name)) : new Map<string, string>()
  }
  // The declaration itself is always in UTF-8.
  const declaration = await labels('bagit.txt', usualEncoding)
  const encoding = declaration.get('tag-file-character-encoding') ?? usualEncoding
  const info = await labels('bag-info.txt', encoding)
  const isExchanged = !declaration.has('bagit-version') && info.has('bagit-version')
  const declared = isExchanged ? info : declaration
  const isV1 = isExchanged || (declaration.size === 0 && zip.directory.files.has(`${root}metadata/datacite.xml`))
  const version = declared.get('bagit-version') ?? (isV1 ? '0.97' : undefined)
  if (version === undefined || !/^\d{1,4}\.\d{1,4}$/.test(version))
    throw new Invalid('bagit.txt: BagIt-Version is missing or not of the form 1.0')
  return {
    root,
    version,
    encoding: declared.get('tag-file-character-encoding') ?? usualEncoding,
    info: isExchanged ? declaration : info,
    isV1,
  }
}

/**
 * The folder, with its slash, of the topmost file with this name. Undefined when there is none; throws `Invalid` when there are several.
 */
const rootOf = (paths: readonly string[], name: string): string | undefined => {
  const roots = paths
    .filter(path => (path === name || path.endsWith(`/${name}`)) && !path.startsWith('__MACOSX/'))
    .map(path => path.slice(0, path.length - name.length))
    .filter(root => !/(^|\/)data\//.test(root))
  const depths = roots.map(root => root.split('/').length)
  const highest = Math.min(...depths)
  const found = roots.filter((_, at) => depths[at] === highest)
  if (found.length > 1)
    throw new Invalid(
      `The archive contains several bags: ${found
        .slice(0, 5)
        .map(root => JSON.stringify(root))
        .join(', ')}`,
    )
  return found[0]
}
