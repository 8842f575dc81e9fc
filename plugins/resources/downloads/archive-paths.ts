import { trimEnd } from 'pounce/sdk/kit'
import type { ArchiveFile, ArchiveFolder } from './archive-contents.ts'

const plain = /^[A-Za-z0-9_(][\w ()+,=@.-]{0,98}$/

/** Slashes of either kind, control characters, line separators, and characters that change the writing direction. */
const harmful = /[/\\\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g

const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?=\.|$)/i

const drive = /^([A-Za-z]):/

const idBytes = 25

const maxExtensionBytes = 32

const hasEnding = (name: string): number => {
  const dot = name.lastIndexOf('.')
  return dot > 0 && Buffer.byteLength(name.slice(dot)) <= maxExtensionBytes ? dot : name.length
}

/** The longest prefix of a text that fits into the given number of UTF-8 bytes. */
const beginning = (text: string, bytes: number): string => {
  if (Buffer.byteLength(text) <= bytes) return text
  const encoded = Buffer.from(text)
  let end = bytes
  while (end > 0 && ((encoded[end] as number) & 0xc0) === 0x80) end--
  return encoded.toString('utf8', 0, end)
}

const shortened = (name: string, maxBytes: number): string => {
  if (name.length * 3 <= maxBytes || Buffer.byteLength(name) <= maxBytes) return name
  const ending = name.slice(hasEnding(name))
  return beginning(name.slice(0, name.length - ending.length), maxBytes - Buffer.byteLength(ending)) + ending
}

/**
 * A name as one component of a path that can be unpacked on any system: no slashes, control characters, `.` and `..`, drives, device names,
 * trailing dots or spaces, and at most `maxBytes` of UTF-8. Safe names are unchanged.
 */
export const safeName = (name: string, maxBytes: number): string => {
  const last = name.charCodeAt(name.length - 1)
  if (plain.test(name) && last !== 46 && last !== 32 && !device.test(name)) return shortened(name, maxBytes)
  const harmless = name.toWellFormed().replace(harmful, '_').replace(drive, '$1_')
  const safe = trimEnd(harmless, '. ')
    .padEnd(harmless.length, '_')
    .replace(device, found => `_${found}`)
  return shortened(safe === '' ? '_' : safe, maxBytes)
}

/** `name_<id>.ext`, which distinguishes files with equal names. */
const nameWithId = (name: string, id: string, maxBytes: number): string => {
  const short = shortened(name, maxBytes - idBytes)
  const dot = hasEnding(short)
  return `${short.slice(0, dot)}_${id}${short.slice(dot)}`
}

/** The name as compared by file systems that ignore case and Unicode normalization. */
const folded = (name: string): string => name.normalize('NFC').toLowerCase()

/** Rules for names in an archive. */
export interface Naming {
  /** Maximum length of a name. */
  readonly maxBytes: number
  /** Additional requirements of the archive format for safe names. */
  cleaned?(name: string): string
  /** Names next to the files of a folder that are reserved. */
  reserved(archiveFolder: ArchiveFolder): readonly string[]
  /** Suffixes, in lower case, that reserve further names for each file. */
  readonly endings: readonly string[]
}

/** For archives that contain only files. 255 bytes is the limit of common file systems. */
export const plainNaming: Naming = { maxBytes: 255, reserved: () => [], endings: [] }

/** A folder, or a file in it, with its full path. The path of a folder ends in a slash, except for the root, whose path is empty. */
export type PlacedEntry =
  | { readonly path: string; readonly archiveFolder: ArchiveFolder }
  | { readonly path: string; readonly file: ArchiveFile }

/** Limit for paths, below those of ZIP and of common operating systems. */
const maxPathBytes = 3000

const same = (name: string): string => name

/** Assigns names in one folder: a unique name is kept; equal names all get their ids. */
class Names {
  readonly #naming: Naming
  readonly #used: Set<string>

  constructor(naming: Naming, taken: Iterable<string>) {
    this.#naming = naming
    this.#used = new Set(taken)
  }

  give<T extends { readonly id: string; readonly name: string }>(things: readonly T[], endings: readonly string[]): readonly string[] {
    const { maxBytes, cleaned = same } = this.#naming
    const names = things.map(({ name }) => safeName(cleaned(name), maxBytes))
    const claims = names.map(name => this.#claims(name, endings))
    const times = new Map<string, number>()
    for (const claim of claims.flat()) times.set(claim, (times.get(claim) ?? 0) + 1)
    const isOwn = claims.map(claimed => claimed.every(claim => times.get(claim) === 1 && !this.#used.has(claim)))
    for (const [at, claimed] of claims.entries()) if (isOwn[at]) for (const claim of claimed) this.#used.add(claim)
    return things.map(({ id }, at) => (isOwn[at] ? (names[at] as string) : this.#withId(names[at] as string, id, endings)))
  }

  #withId(name: string, id: string, endings: readonly string[]): string {
    let given = nameWithId(name, id, this.#naming.maxBytes)
    while (this.#claims(given, endings).some(claim => this.#used.has(claim))) given = nameWithId(given, id, this.#naming.maxBytes)
    for (const claim of this.#claims(given, endings)) this.#used.add(claim)
    return given
  }

  #claims(name: string, endings: readonly string[]): readonly string[] {
    const plain = folded(name)
    return [plain, ...endings.map(ending => plain + ending)]
  }
}

const inOrder = <T>(things: readonly T[], names: readonly string[]): readonly (readonly [T, string])[] =>
  things
    .map((thing, at): readonly [T, string] => [thing, names[at] as string])
    .sort(([, one], [, other]) => (one < other ? -1 : one > other ? 1 : 0))

/**
 * All folders and files with their paths, in a stable order: each folder, then its files by name, then its subfolders. Files with equal
 * names in one folder all become `name_<id>.ext`, folders with equal names `name_<id>`, and a file with the name of a folder next to it is
 * renamed. Names that differ only in case count as equal.
 */
export function* layout(top: ArchiveFolder, naming: Naming): Generator<PlacedEntry> {
  const waiting: { readonly archiveFolder: ArchiveFolder; readonly path: string }[] = [{ archiveFolder: top, path: '' }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { archiveFolder, path } = next
    yield { archiveFolder, path }
    const names = new Names(naming, naming.reserved(archiveFolder).map(folded))
    const subfolders = names.give(archiveFolder.subfolders, [])
    const files = names.give(archiveFolder.files, naming.endings)
    for (const [file, name] of inOrder(archiveFolder.files, files)) yield { file, path: path + name }
    for (const [below, name] of inOrder(archiveFolder.subfolders, subfolders).toReversed())
      waiting.push({ archiveFolder: below, path: pathBelow(path, name, below) })
  }
}

/** Folders that are too deep to be unpacked are moved to the root, named by id. */
const pathBelow = (path: string, name: string, { id }: ArchiveFolder): string =>
  Buffer.byteLength(path) + Buffer.byteLength(name) > maxPathBytes ? `_${id}/` : `${path}${name}/`
