import { crc32 } from 'node:zlib'
import { type Command, DocumentStore, type FileRecord, Invalid, type Stored, wire } from 'pounce/sdk'
import { files } from './collection.ts'
import { FileDamage } from './file-damage.ts'
import { Scrub } from './scrub.ts'

const mostNamed = 20

/** The part of `pounce doctor` that lists files whose stored bytes are damaged or missing. */
export class DamageDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly options = [
    { name: 'read-data', summary: 'Verify the checksums of all stored files, and all indexes and values of databases', takesValue: false },
    { name: 'subset', summary: 'Check one part of the stored files only: 1/7 is the first of seven', takesValue: true },
    {
      name: 'repair',
      summary: 'Mark files with damaged or missing bytes; with --read-data also unmark those that are valid again. Deletes nothing',
      takesValue: false,
    },
  ]
  #documents: DocumentStore
  #scrub: Scrub
  #damage: FileDamage

  constructor(documents: DocumentStore, scrub: Scrub, damage: FileDamage) {
    this.#documents = documents
    this.#scrub = scrub
    this.#damage = damage
  }

  async run(
    { options }: Parameters<Command['run']>[0],
    progress: (message: string) => void,
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const isIncluded = subset(options['subset'])
    const isRead = options['read-data'] === true
    const found: string[] = []
    let checked = 0
    progress(isRead ? 'reading stored files' : 'stored files')
    for await (const file of this.#documents.walk(files)) {
      if (!isIncluded(file.id)) continue
      checked += 1
      const fault = await this.#check(file, isRead, options['repair'] === true)
      if (fault !== undefined && found.length < mostNamed) found.push(`${file.id} (${file.blob}, ${fault})`)
    }
    const named = await this.#withMarked(found)
    const detail = [named.slice(0, mostNamed).join(', '), ...(named.length > mostNamed ? ['and maybe more'] : [])].join(' ')
    const shown = detail === '' && isRead ? `${checked} files read` : detail
    return [{ check: 'stored bytes', ok: named.length === 0, ...(shown === '' ? {} : { detail: shown }) }]
  }

  async #check(file: FileRecord & Stored, isRead: boolean, isRepairing: boolean): Promise<string | undefined> {
    const fault = await this.#scrub.faultOf(file, { isRead })
    if (isRepairing && fault !== undefined) await this.#damage.damaged(file.blob, 'scrub')
    else if (isRepairing && isRead) await this.#damage.repaired(file.id)
    return fault
  }

  /** Marked files are listed too: without reading them it is unknown whether their bytes are valid again. */
  async #withMarked(found: readonly string[]): Promise<readonly string[]> {
    const marked = await this.#damage.marked(mostNamed + 1)
    const others = marked.filter(({ id }) => !found.some(text => text.startsWith(id)))
    return [...found, ...others.map(({ id, blob, at }) => `${id} (${blob}, since ${at})`)]
  }
}
wire(DamageDoctor, DocumentStore, Scrub, FileDamage)

/** The files selected by a part such as `2/7`. Throws `Invalid` for a malformed part. */
const subset = (given: string | boolean | undefined): ((id: string) => boolean) => {
  if (given === undefined) return () => true
  const [, part, parts] = (/^(\d{1,6})\/(\d{1,6})$/.exec(String(given)) ?? []).map(Number)
  if (!part || !parts || part > parts) throw new Invalid('subset must be a part of the files such as 1/7')
  return id => crc32(id) % parts === part - 1
}
