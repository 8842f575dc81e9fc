import { createHash, randomBytes } from 'node:crypto'
import {
  type AnyEvent,
  type BatchHandler,
  type Caller,
  Clock,
  collection,
  DocumentStore,
  type FileRecord,
  Files,
  Forbidden,
  isIn,
  Policy,
  port,
  range,
  removeFound,
  type Stored,
  signedIn,
  type Time,
  Users,
  wire,
} from 'pounce/sdk'

/** A link by which anybody can download a file for a while. Like a key it is known by its hash only, which is the record's id. */
interface LinkRecord {
  readonly file: string
  readonly maker: string
  readonly created: Time
  readonly expires: Time
}
export const fileLinks = collection<LinkRecord>('files.links', { byFile: { on: ['file'] }, byExpires: { on: ['expires'] } })

const lifeMs = 7 * 86_400_000
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Makes links to files and follows them. A link is good for as long as whoever made it could download and edit the file themselves. */
export class Links implements BatchHandler {
  #documents: DocumentStore
  #files: Files
  #users: Users
  #policy: Policy
  #clock: Clock

  constructor(documents: DocumentStore, files: Files, users: Users, policy: Policy, clock: Clock) {
    this.#documents = documents
    this.#files = files
    this.#users = users
    this.#policy = policy
    this.#clock = clock
  }

  /** The token is told once and kept nowhere. `Forbidden` for keys of extractors: a link would outlive them. */
  async make(caller: Caller, file: string): Promise<{ readonly token: string; readonly expires: Date }> {
    if (caller.scope === 'extraction') throw new Forbidden('The key of an extractor makes no links')
    const now = this.#clock.now()
    const [token, expires] = [randomBytes(24).toString('base64url'), new Date(now.getTime() + lifeMs)]
    const link = { file, maker: signedIn(caller).id, created: now.toISOString(), expires: expires.toISOString() }
    await this.#documents.commit({ insert: { id: hashOf(token), ...link }, into: fileLinks })
    return { token, expires }
  }

  /** The file behind a link; undefined when there is none, it has ended, or its maker has lost the right. */
  async follow(token: string): Promise<(FileRecord & Stored) | undefined> {
    const link = await this.#documents.get(fileLinks, hashOf(token))
    if (!link || link.expires <= this.#clock.now().toISOString()) return undefined
    const [file, maker] = await Promise.all([this.#files.get(link.file), this.#users.get(link.maker)])
    if (!file || !maker) return undefined
    const caller = await this.#users.callerOf(maker)
    const ref = { kind: 'file', id: file.id } as const
    for (const permission of ['EditFile', 'DownloadFiles'] as const) {
      if ((await this.#policy.canOn(caller, permission, ref)) !== 'yes') return undefined
    }
    return file
  }

  /** Links go with their files. */
  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const gone = events.map(({ subject }) => subject.id)
    await removeFound(this.#documents, fileLinks, { using: 'byFile', where: isIn('file', gone) })
  }

  /** Takes away what has ended. */
  async run(): Promise<void> {
    const where = range('expires', { lt: this.#clock.now().toISOString() })
    await removeFound(this.#documents, fileLinks, { using: 'byExpires', where })
  }
}
wire(Links, DocumentStore, Files, Users, Policy, Clock)

export const FileLinks = port<Links>('files.file-links')
