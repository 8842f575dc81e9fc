import { trimEnd } from 'pounce/sdk/kit'
import type { ArchiveFolder, ShelvedFile } from './archive-contents.ts'

const plain = /^[A-Za-z0-9_(][\w ()+,=@.-]{0,98}$/

/** Slashes of either kind, control characters, line separators, and what turns the direction of writing. */
const harmful = /[/\\\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g

const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?=\.|$)/i

const drive = /^([A-Za-z]):/

const idBytes = 25

const longestEnding = 32

const hasEnding = (name: string): number => {
  const dot = name.lastIndexOf('.')
  return dot > 0 && Buffer.byteLength(name.slice(dot)) <= longestEnding ? dot : name.length
}

/** The longest beginning of some text that fits into so many bytes of UTF-8. */
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
 * A name as one part of a path that can be unpacked on any system: no slashes, control characters, `.` and `..`, drives, names of devices, dots
 * or spaces at its end, and at most `maxBytes` of UTF-8. Every other name stays as it is.
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

/** `name_<id>.ext`, which distinguishes it from others of its name. */
const nameWithId = (name: string, id: string, maxBytes: number): string => {
  const short = shortened(name, maxBytes - idBytes)
  const dot = hasEnding(short)
  return `${short.slice(0, dot)}_${id}${short.slice(dot)}`
}

/** A name as systems see it that ignore letter case and Unicode forms. */
const folded = (name: string): string => name.normalize('NFC').toLowerCase()

/** What decides about the names in an archive. */
export interface Naming {
  /** Most bytes of a name. */
  readonly maxBytes: number
  /** Additional requirements of the archive format on safe names. */
  cleaned?(name: string): string
  /** Names beside the files of a shelf that are used otherwise. */
  reserved(shelf: ArchiveFolder): readonly string[]
  /** Endings with which a file claims further names beside its own. */
  readonly endings: readonly string[]
}

/** For archives that hold nothing but files. 255 bytes is the most that common file systems take. */
export const plainNaming: Naming = { maxBytes: 255, reserved: () => [], endings: [] }

/** A shelf, or a file on it, with its whole path; that of a shelf ends in a slash, but for the top, which has none. */
export type Laid = { readonly path: string; readonly shelf: ArchiveFolder } | { readonly path: string; readonly file: ShelvedFile }

/** A path may not be longer than a ZIP can say, nor than a system can open. */
const longestPath = 3000

const same = (name: string): string => name

/** Gives names to resources side by side: who has the name for itself keeps it, the others all get their ids into theirs. */
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
    return [plain, ...endings.map(ending => plain + folded(ending))]
  }
}

const inOrder = <T>(things: readonly T[], names: readonly string[]): readonly (readonly [T, string])[] =>
  things
    .map((thing, at): readonly [T, string] => [thing, names[at] as string])
    .sort(([, one], [, other]) => (one < other ? -1 : one > other ? 1 : 0))

/**
 * Everything on a shelf and below with its path, always in the same order: each shelf, then its files by name, then the shelves on it.
 * Files of one name in one folder all become `name_<id>.ext`, folders of one name all `name_<id>`, and a file named like a folder beside it
 * is renamed. Names that differ by case alone count as one.
 */
export function* layout(top: ArchiveFolder, naming: Naming): Generator<Laid> {
  const waiting: { readonly shelf: ArchiveFolder; readonly path: string }[] = [{ shelf: top, path: '' }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { shelf, path } = next
    yield { shelf, path }
    const names = new Names(naming, naming.reserved(shelf).map(folded))
    const shelves = names.give(shelf.shelves, [])
    const files = names.give(shelf.files, naming.endings)
    for (const [file, name] of inOrder(shelf.files, files)) yield { file, path: path + name }
    for (const [below, name] of inOrder(shelf.shelves, shelves).toReversed())
      waiting.push({ shelf: below, path: pathBelow(path, name, below) })
  }
}

/** Folders that lie too deep to be unpacked start again at the top, under their id. */
const pathBelow = (path: string, name: string, { id }: ArchiveFolder): string =>
  Buffer.byteLength(path) + Buffer.byteLength(name) > longestPath ? `_${id}/` : `${path}${name}/`
