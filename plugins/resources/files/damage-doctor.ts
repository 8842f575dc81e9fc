import { crc32 } from 'node:zlib'
import {
  type BlobOwner,
  BlobOwners,
  BlobStore,
  type Command,
  type Contributions,
  DocumentStore,
  type FileRecord,
  Invalid,
  type Stored,
  wire,
} from 'pounce/sdk'
import { type DoctorRow, valueAt } from 'pounce/sdk/kit'
import type { BlobPlace } from 'pounce/sdk/store-kit'
import { files } from './collection.ts'
import { FileDamage } from './file-damage.ts'
import { ReadFailures } from './read-failures.ts'
import { Scrub } from './scrub.ts'

const maxNamed = 20

/** Which bytes are checked, and whether they are read. */
interface DoctorOptions {
  readonly isIncluded: (id: string) => boolean
  readonly isRead: boolean
}

/** The parts of `pounce doctor` that list files, and other records such as previews, whose stored bytes are damaged or missing. */
export class DamageDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly options = [
    { name: 'read-data', summary: 'Verify the checksums of all stored files, and all indexes and values of databases', takesValue: false },
    { name: 'subset', summary: 'Check one part of the stored files only: 1/7 is the first of seven', takesValue: true },
    {
      name: 'repair',
      summary:
        'Mark files with damaged or missing bytes, and correct totals; with --read-data also unmark files that are valid again. Deletes nothing',
      takesValue: false,
    },
  ]
  #documents: DocumentStore
  #scrub: Scrub
  #damage: FileDamage
  #owners: Contributions<BlobOwner>
  #failures: ReadFailures

  constructor(documents: DocumentStore, blobs: BlobStore, scrub: Scrub, damage: FileDamage, owners: Contributions<BlobOwner>) {
    this.#documents = documents
    this.#failures = new ReadFailures(blobs)
    this.#scrub = scrub
    this.#damage = damage
    this.#owners = owners
  }

  async run({ options }: Parameters<Command['run']>[0], progress: (message: string) => void): Promise<readonly DoctorRow[]> {
    const doctorOptions = { isIncluded: subset(options['subset']), isRead: options['read-data'] === true }
    const isRepairing = options['repair'] === true
    return [await this.#files(doctorOptions, isRepairing, progress), await this.#others(doctorOptions, progress)]
  }

  async #files({ isIncluded, isRead }: DoctorOptions, isRepairing: boolean, progress: (message: string) => void): Promise<DoctorRow> {
    const found: string[] = []
    let checked = 0
    progress(isRead ? 'reading stored files' : 'stored files')
    for await (const file of this.#documents.walk(files)) {
      if (!isIncluded(file.id)) continue
      checked += 1
      const fault = await this.#check(file, { isRead, isRepairing })
      if (fault !== undefined && found.length < maxNamed) found.push(`${file.id} (${file.blob}, ${fault})`)
    }
    const named = await this.#withMarked(found)
    const detail = [named.slice(0, maxNamed).join(', '), ...(named.length > maxNamed ? ['and maybe more'] : [])].join(' ')
    const shown = detail === '' && isRead ? `${checked} files read` : detail
    return { check: 'stored bytes', ok: named.length === 0, ...(shown === '' ? {} : { detail: shown }) }
  }

  /** Bytes of other records are not marked: what depends on them, such as a preview, fails visibly and can be created again. */
  async #others({ isIncluded, isRead }: DoctorOptions, progress: (message: string) => void): Promise<DoctorRow> {
    const found: string[] = []
    for (const place of this.#owners.all().flatMap(({ places }) => places)) {
      if (place.in.name === files.name) continue
      progress(`stored bytes of ${place.in.name}`)
      for await (const record of this.#documents.walk(place.in)) {
        if (!isIncluded(record.id)) continue
        const { fault, unreadable } = await this.#failures.faultIn(() => this.#faultAt(place, record, isRead))
        const problem = unreadable === undefined ? fault : `not readable: ${unreadable}`
        if (problem !== undefined && found.length <= maxNamed) found.push(`${place.in.name} ${record.id} (${problem})`)
      }
    }
    const detail = [found.slice(0, maxNamed).join(', '), ...(found.length > maxNamed ? ['and maybe more'] : [])].join(' ')
    return { check: 'stored bytes of other records', ok: found.length === 0, ...(detail === '' ? {} : { detail }) }
  }

  async #faultAt({ in: from, field, sizeField }: BlobPlace, record: Stored, isRead: boolean): Promise<string | undefined> {
    const blob = valueAt(record, field)
    if (typeof blob !== 'string') return undefined
    const size = sizeField === undefined ? undefined : valueAt(record, sizeField)
    const fault = await this.#scrub.faultOfBlob(blob, typeof size === 'number' ? size : undefined, { isRead })
    if (fault === undefined) return undefined
    // It may have been deleted or replaced meanwhile.
    const now = await this.#documents.get(from, record.id)
    return now && valueAt(now, field) === blob ? `${blob}, ${fault}` : undefined
  }

  async #check(
    file: FileRecord & Stored,
    { isRead, isRepairing }: Pick<DoctorOptions, 'isRead'> & { readonly isRepairing: boolean },
  ): Promise<string | undefined> {
    const { fault, unreadable } = await this.#failures.faultIn(() => this.#scrub.faultOf(file, { isRead }))
    if (unreadable !== undefined) return `not readable: ${unreadable}`
    if (isRepairing && fault !== undefined) await this.#damage.damaged(file.blob, 'scrub')
    else if (isRepairing && isRead) await this.#damage.repaired(file.id)
    return fault
  }

  /** Marked files are listed too: without reading them it is unknown whether their bytes are valid again. */
  async #withMarked(found: readonly string[]): Promise<readonly string[]> {
    const marked = await this.#damage.marked(maxNamed + 1)
    const others = marked.filter(({ id }) => !found.some(text => text.startsWith(id)))
    return [...found, ...others.map(({ id, blob, at }) => `${id} (${blob}, since ${at})`)]
  }
}
wire(DamageDoctor, DocumentStore, BlobStore, Scrub, FileDamage, BlobOwners)

/** The files selected by a part such as `2/7`. Throws `Invalid` for a malformed part. */
const subset = (given: string | boolean | undefined): ((id: string) => boolean) => {
  if (given === undefined) return () => true
  const [, part, parts] = (/^(\d{1,6})\/(\d{1,6})$/.exec(String(given)) ?? []).map(Number)
  if (!part || !parts || part > parts) throw new Invalid('subset must be a part of the files such as 1/7')
  return id => crc32(id) % parts === part - 1
}
