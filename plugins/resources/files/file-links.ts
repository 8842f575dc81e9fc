import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  type After,
  type AnyEvent,
  and,
  type BatchHandler,
  type Caller,
  Clock,
  CommitConflict,
  CredentialRefs,
  collection,
  DocumentStore,
  eq,
  event,
  type FileRecord,
  Files,
  Forbidden,
  isIn,
  Log,
  type NewEvent,
  type Page,
  Policy,
  RateLimiter,
  range,
  type Stored,
  type StoredEvent,
  type Time,
  wire,
} from 'pounce/sdk'
import { type CredentialRef, networkOf, personalRecords, removeFound } from 'pounce/sdk/kit'
import { Config, type Settings } from './stored-files.ts'

/**
 * A link with which anyone can download a file for a limited time. Like a key it is stored as a hash only; its id is the beginning of the
 * hash.
 */
interface LinkRecord {
  readonly file: string
  readonly maker: string
  readonly created: Time
  readonly expires: Time
  /** Absent from links of versions that did not bind them to a credential: these are invalid. */
  readonly hash?: string
  readonly credential?: CredentialRef
  /** Accurate to a minute. */
  readonly lastUsed?: Time | null
  /** A digest of the client address of the last use. */
  readonly lastFrom?: string
}
export type FileLink = LinkRecord & Stored
export const fileLinks = collection<LinkRecord>()('files.links', {
  byFile: { on: ['file'] },
  byFileCreated: { on: ['file', 'created'] },
  byMakerCreated: { on: ['maker', 'created'] },
  byExpires: { on: ['expires'] },
})

type Window = { readonly after?: After; readonly limit: number }
/** Links by creator or by file. */
export type LinksOf = { readonly maker: string } | { readonly file: string }

const dayMs = 86_400_000
const useEveryMs = 60_000
/** Wrong links from one network in 15 minutes; right ones still work (promises, Authentication). */
const wrongLinksPerNetwork = 20
const maxWrongKept = 10_000
const needed = ['EditFile', 'DownloadFiles'] as const
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const isSame = (one: string, other: string): boolean => one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
const newest = { by: 'created', order: 'descending' } as const

const queryOf = (of: LinksOf) =>
  'maker' in of
    ? ({ using: 'byMakerCreated', where: eq('maker', of.maker) } as const)
    : ({ using: 'byFileCreated', where: eq('file', of.file) } as const)

const revoked = ({ id, file, maker }: FileLink, actor: string | undefined): NewEvent =>
  event('file.link-revoked', { kind: 'file', id: file }, { link: id, maker }, actor)

/** Download links for files. A link has the current rights of the credential that created it, and ends with that credential. */
export class FileLinks implements BatchHandler {
  readonly #lifeMs: number
  readonly #documents: DocumentStore
  readonly #files: Files
  readonly #credentials: CredentialRefs
  readonly #policy: Policy
  readonly #limiter: RateLimiter
  readonly #clock: Clock
  readonly #log: Log
  /** Wrong tokens that were counted, by network: a page with a dead link guesses nothing. */
  readonly #wrong = new Set<string>()

  constructor(
    { linkDays }: Settings,
    documents: DocumentStore,
    files: Files,
    credentials: CredentialRefs,
    policy: Policy,
    limiter: RateLimiter,
    clock: Clock,
    log: Log,
  ) {
    this.#lifeMs = linkDays * dayMs
    this.#documents = documents
    this.#files = files
    this.#credentials = credentials
    this.#policy = policy
    this.#limiter = limiter
    this.#clock = clock
    this.#log = log
  }

  /** The token is returned once and not stored. Throws `Forbidden` for keys of extractors. */
  async make(caller: Caller, file: string): Promise<{ readonly id: string; readonly token: string; readonly expires: Date }> {
    if (caller.scope === 'extraction') throw new Forbidden('The key of an extractor cannot create links')
    const credential = await this.#credentials.of(caller)
    const now = this.#clock.now()
    const [token, expires] = [randomBytes(24).toString('base64url'), new Date(now.getTime() + this.#lifeMs)]
    const hash = sha256(token)
    const id = hash.slice(0, 24)
    const [created, ends, maker] = [now.toISOString(), expires.toISOString(), credential.user]
    const link: LinkRecord = { file, maker, created, expires: ends, hash, credential, lastUsed: null }
    const createdEvent = event('file.link-created', { kind: 'file', id: file }, { link: id, expires: ends }, maker)
    await this.#documents.commit({ insert: { id, ...link }, into: fileLinks }, [createdEvent])
    return { id, token, expires }
  }

  /**
   * The link and file for a token; undefined when it does not exist, has ended, or its creator can no longer download and edit the file. Throws `TooMany`
   * after too many different wrong tokens from one network.
   */
  async follow(token: string, address: string): Promise<{ readonly link: FileLink; readonly file: FileRecord & Stored } | undefined> {
    const hash = sha256(token)
    const link = await this.#documents.get(fileLinks, hash.slice(0, 24))
    if (!link?.hash || !isSame(link.hash, hash)) {
      await this.#countWrong(`${networkOf(address)} ${hash}`, address)
      return undefined
    }
    const caller = await this.#makerOf(link)
    const file = caller && (await this.#files.get(link.file))
    if (!caller || !file) return undefined
    for (const permission of needed)
      if ((await this.#policy.canOn(caller, permission, { kind: 'file', id: file.id })) !== 'yes') return undefined
    return { link, file }
  }

  async #countWrong(wrong: string, address: string): Promise<void> {
    if (this.#wrong.has(wrong)) return
    await this.#limiter.consume('wrong download link', { address }, { perNetwork: wrongLinksPerNetwork })
    this.#wrong.add(wrong)
    if (this.#wrong.size > maxWrongKept) this.#wrong.delete(this.#wrong.keys().next().value ?? '')
  }

  /** Records a use. A failure to record it does not fail the download. */
  used({ id, file, maker, lastUsed, lastFrom }: FileLink, address: string): void {
    const [now, from] = [this.#clock.now(), sha256(`${id}\n${address}`).slice(0, 16)]
    const isNoted = from === lastFrom && lastUsed && now.getTime() - Date.parse(lastUsed) < useEveryMs
    if (isNoted) return
    const used = event('file.link-used', { kind: 'file', id: file }, { link: id, maker, address })
    const update = { update: id, in: fileLinks, set: { lastUsed: now.toISOString(), lastFrom: from } }
    this.#documents.commit(update, [used]).catch((error: unknown) => {
      if (!(error instanceof CommitConflict)) this.#log.warn('Failed to record the use of a link', { link: id, error })
    })
  }

  /** Links that are valid as far as that depends on their creators; newest first. */
  async list(of: LinksOf, window: Window): Promise<Page<FileLink>> {
    const page = await this.#documents.find(fileLinks, { ...queryOf(of), sort: newest, ...window })
    const open = await Promise.all(page.items.map(async link => ((await this.#makerOf(link)) ? [link] : [])))
    return { ...page, items: open.flat() }
  }

  /** False when there is no such link among them. */
  async revoke(id: string, of: LinksOf, actor: string | undefined): Promise<boolean> {
    const link = await this.#documents.get(fileLinks, id)
    if (!link || !('maker' in of ? link.maker === of.maker : link.file === of.file)) return false
    try {
      await this.#documents.commit({ tombstone: id, in: fileLinks }, [revoked(link, actor)])
      return true
    } catch (error) {
      if (error instanceof CommitConflict) return false
      throw error
    }
  }

  async revokeAll(of: LinksOf, actor: string | undefined, madeBy?: Time): Promise<void> {
    const { using, where } = queryOf(of)
    const older = madeBy === undefined ? where : and(where, range('created', { lte: madeBy }))
    await removeFound(this.#documents, fileLinks, { using, where: older, events: link => [revoked(link, actor)] })
  }

  /** Deletes links with their files. */
  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const files = events.map(({ subject }) => subject.id)
    await removeFound(this.#documents, fileLinks, { using: 'byFile', where: isIn('file', files) })
  }

  /** Deletes expired links. */
  async run(): Promise<void> {
    const where = range('expires', { lt: this.#clock.now().toISOString() })
    await removeFound(this.#documents, fileLinks, { using: 'byExpires', where })
  }

  async #makerOf({ credential, expires }: FileLink): Promise<Caller | undefined> {
    if (!credential || expires <= this.#clock.now().toISOString()) return undefined
    return this.#credentials.callerOf(credential)
  }
}
wire(FileLinks, Config, DocumentStore, Files, CredentialRefs, Policy, RateLimiter, Clock, Log)

/** Deletes the links of an account that is suspended or whose password changes: they do not become valid again. */
export class RevokeLinksOnUserUpdated {
  readonly #links: FileLinks

  constructor(links: FileLinks) {
    this.#links = links
  }

  async handle({ subject: { id: maker }, actor, at, data: { fields, status } }: StoredEvent<'user.updated'>): Promise<void> {
    const isOver = status === 'Inactive' || fields.includes('password') || fields.includes('keys')
    if (isOver) await this.#links.revokeAll({ maker }, actor, at)
  }
}
wire(RevokeLinksOnUserUpdated, FileLinks)

/** Download links. They end with the account. */
export const PersonalLinks = personalRecords({
  name: 'download-links',
  summary: 'Download links that you created and that are still valid, without their secrets.',
  in: fileLinks,
  isOf: ({ maker }, { id }) => maker === id,
  show: ({ file, created, expires }) => ({ file, created, expires }),
  erase: () => 'remove',
})
