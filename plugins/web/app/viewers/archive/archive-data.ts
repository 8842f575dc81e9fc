import { unzipRaw, type ZipEntry } from 'unzipit'
import type { GridSort } from '../../components/grid-props.ts'
import { maxMemberBytes } from './member-types.ts'

/** A file or folder in an archive. */
export interface Member {
  readonly name: string
  readonly path: string
  readonly isFolder: boolean
  readonly sizeBytes: number
  readonly packedBytes: number
  readonly changed: Date | undefined
}

/** The totals of an archive, from its central directory. */
export interface ArchiveTotals {
  readonly files: number
  readonly sizeBytes: number
}

/** Why an archive or a member cannot be shown. Sent to the page as the name of the error. */
export type ArchiveProblem = 'TooManyFiles' | 'Encrypted' | 'TooLarge' | 'Bomb' | 'Damaged'

const problem = (name: ArchiveProblem): Error => Object.assign(new Error(name), { name })

/** Characters 128 to 255 of code page 437, in which programs write names that are not UTF-8; those of other Western code pages differ in few letters. */
const dosCharacters =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const nameOf = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    return Array.from(bytes, byte => (byte < 128 ? String.fromCharCode(byte) : dosCharacters[byte - 128])).join('')
  }
}

const maxDepth = 100
/** Enough for the central directory of an archive with a million files. */
const maxReadBytes = maxMemberBytes

/** A ZIP archive. The central directory is read from its end; members are unpacked only when opened. */
export class Archive {
  readonly totals: ArchiveTotals
  readonly #folders = new Map<string, Map<string, Member>>([['', new Map()]])
  readonly #entries = new Map<string, ZipEntry>()

  static async open(read: (start: number, end: number) => Promise<Uint8Array>, sizeBytes: number): Promise<Archive> {
    const { entries } = await unzipRaw({
      getLength: async () => sizeBytes,
      read: async (offset: number, length: number) => {
        if (length > maxReadBytes) throw problem('TooManyFiles')
        return read(offset, offset + length)
      },
      sliceAsBlob: async (offset: number, length: number, type = '') =>
        new Blob([(await read(offset, offset + length)) as BlobPart], { type }),
    } as never)
    return new Archive(entries)
  }

  private constructor(entries: readonly ZipEntry[]) {
    let files = 0
    let total = 0
    for (const entry of entries) {
      const steps = nameOf(entry.nameBytes)
        .split(/[/\\]/)
        .filter(step => step !== '' && step !== '.')
        .slice(-maxDepth)
      const name = steps.pop()
      if (name === undefined) continue
      const folder = steps.map(step => `${step}/`).join('')
      if (entry.isDirectory) {
        this.#folderAt(`${folder}${name}/`)
        continue
      }
      files++
      total += entry.size
      const path = `${folder}${name}`
      this.#entries.set(path, entry)
      this.#folderAt(folder).set(name, {
        ...{ name, path, isFolder: false, sizeBytes: entry.size, packedBytes: entry.compressedSize },
        changed: Number.isNaN(entry.lastModDate.getTime()) ? undefined : entry.lastModDate,
      })
    }
    this.totals = { files, sizeBytes: total }
  }

  #folderAt(path: string): Map<string, Member> {
    const known = this.#folders.get(path)
    if (known) return known
    const made = new Map<string, Member>()
    this.#folders.set(path, made)
    const name = path.slice(0, -1).split('/').at(-1) ?? ''
    const parent = path.slice(0, path.length - name.length - 1)
    this.#folderAt(parent).set(`${name}/`, { name, path, isFolder: true, sizeBytes: 0, packedBytes: 0, changed: undefined })
    return made
  }

  /** The members of a folder, folders first. Paths end in a slash; '' is the root. */
  list(path: string, { column, order }: GridSort, language: string): readonly Member[] {
    const sign = order === 'ascending' ? 1 : -1
    const names = new Intl.Collator(language, { numeric: true })
    const compare = (one: Member, other: Member): number => {
      if (column === 'size') return one.sizeBytes - other.sizeBytes
      if (column === 'packed') return one.packedBytes - other.packedBytes
      return column === 'changed' ? (one.changed?.getTime() ?? 0) - (other.changed?.getTime() ?? 0) : 0
    }
    return [...(this.#folders.get(path)?.values() ?? [])].sort(
      (one, other) => Number(other.isFolder) - Number(one.isFolder) || sign * (compare(one, other) || names.compare(one.name, other.name)),
    )
  }

  /** The unpacked bytes of a file, limited to the size declared in the archive. */
  async unpack(path: string): Promise<Uint8Array> {
    const entry = this.#entries.get(path)
    if (!entry) throw problem('Damaged')
    if (entry.encrypted) throw problem('Encrypted')
    if (entry.size > maxMemberBytes || entry.compressedSize > maxMemberBytes) throw problem('TooLarge')
    try {
      return new Uint8Array(await entry.arrayBuffer())
    } catch (cause) {
      throw problem(cause instanceof Error && cause.message.includes('exceeds limit') ? 'Bomb' : 'Damaged')
    }
  }
}
