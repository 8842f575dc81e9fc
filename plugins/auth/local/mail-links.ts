import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  anonymousUserId,
  Clock,
  CommitConflict,
  collection,
  configPort,
  DocumentStore,
  event,
  Forbidden,
  Ids,
  RateLimiter,
  range,
  type Stored,
  type Time,
  type UserRecord,
  wire,
} from 'pounce/sdk'
import { personalRecords, removeFound } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'

/** A requested link. Its purpose is decided when it is sent, as the request must not reveal who has an account. */
export interface LinkRecord {
  readonly email: string
  readonly asked: 'signUp' | 'reset'
  /** The purpose of the sent link; null until then, and when no link was sent. */
  readonly opens: 'signUp' | 'reset' | null
  /** Digests of its secret: one for each attempt to send it. */
  readonly secrets: readonly string[]
  /** For a reset: the account, and a digest of the password that it replaces. */
  readonly account: string | null
  readonly stamp: string | null
  readonly isSent: boolean
  readonly created: Time
  readonly expires: Time
}

export const links = collection<LinkRecord>()('auth.local.links', { byExpiry: { on: ['expires'] } })

export const PersonalMailLinks = personalRecords({
  name: 'mailed-links',
  summary: 'Pending links to sign up or reset your password, without their secrets.',
  in: links,
  isOf: ({ email, account }, person) => email === person.email || account === person.id,
  show: ({ asked, created, expires }) => ({ asked, created, expires }),
  erase: () => 'remove',
})

type Link = LinkRecord & Stored

const hourMs = 3_600_000

const idLength = 24

const newSecret = (): string => randomBytes(32).toString('base64url')

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

const isSame = (one: string, other: string): boolean => one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

/** Ties a link to the password that it replaces: any other password invalidates it. */
export const stampOf = ({ id, passwordHash }: UserRecord & Stored): string => digest(`${id}\n${passwordHash ?? ''}`)

/** Links sent by email: stored as digests, with a limited lifetime, for single use. */
export class MailLinks {
  #settings: Settings
  #documents: DocumentStore
  #rateLimiter: RateLimiter
  #ids: Ids
  #clock: Clock

  constructor(settings: Settings, documents: DocumentStore, rateLimiter: RateLimiter, ids: Ids, clock: Clock) {
    this.#settings = settings
    this.#documents = documents
    this.#rateLimiter = rateLimiter
    this.#ids = ids
    this.#clock = clock
  }

  /** Records a request for a link. Reads no account, so the result is the same for everyone; throws `TooMany` above the limit. */
  async request(asked: LinkRecord['asked'], email: string, address: string): Promise<void> {
    const { linksPerAddress: perEmail, linksPerNetwork: perNetwork, linkHours } = this.#settings
    await this.#rateLimiter.consume('link', { email, address }, { perEmail, perNetwork })
    const now = this.#clock.now()
    const insert = {
      ...{ id: this.#ids.next(), email, asked, opens: null, secrets: [], account: null, stamp: null, isSent: false },
      ...{ created: now.toISOString(), expires: new Date(now.getTime() + linkHours * hourMs).toISOString() },
    }
    const requested = event('account-link.requested', { kind: 'user', id: anonymousUserId }, { link: insert.id })
    await this.#documents.commit({ insert, into: links }, [requested])
  }

  /** The token of a sign-up link that another component sends. */
  async make(email: string, days: number): Promise<string> {
    const now = this.#clock.now()
    const [id, secret] = [this.#ids.next(), newSecret()]
    const insert = {
      ...({ id, email, asked: 'signUp', opens: 'signUp', secrets: [digest(secret)], account: null, stamp: null, isSent: true } as const),
      ...{ created: now.toISOString(), expires: new Date(now.getTime() + days * 24 * hourMs).toISOString() },
    }
    await this.#documents.commit({ insert, into: links })
    return `${id}${secret}`
  }

  /** A link to be sent; undefined when nothing is left to do. */
  async waiting(id: string): Promise<Link | undefined> {
    const link = await this.#documents.get(links, id)
    return link && !link.isSent && !this.#isOver(link) ? link : undefined
  }

  /** Decides the purpose of a link; returns a token, a new one for each call. */
  async issue(link: Link, opens: 'signUp' | 'reset', account: (UserRecord & Stored) | undefined): Promise<string> {
    const secret = newSecret()
    const set = { opens, account: account?.id ?? null, stamp: account ? stampOf(account) : null }
    await this.#documents.commit({ update: link.id, in: links, set, push: { secrets: { values: [digest(secret)] } } })
    return `${link.id}${secret}`
  }

  async sent({ id }: Link): Promise<void> {
    await this.#documents.commit({ update: id, in: links, set: { isSent: true } })
  }

  /** The link of a token; throws `Forbidden` for a wrong, used or expired one. The number of wrong tokens per network is limited. */
  async open(opens: 'signUp' | 'reset', token: string, address: string): Promise<Link> {
    const link = await this.#documents.get(links, token.slice(0, idLength))
    const secret = digest(token.slice(idLength))
    if (link && link.opens === opens && link.secrets.some(each => isSame(each, secret)) && !this.#isOver(link)) return link
    return this.refuse(address)
  }

  async refuse(address: string, cause?: unknown): Promise<never> {
    await this.#rateLimiter.consume('wrong link', { address }, { perNetwork: this.#settings.linksPerNetwork })
    throw new Forbidden('This link is no longer valid; request a new one', cause === undefined ? {} : { cause })
  }

  /** Invalidates the link. Idempotent. */
  async spend({ id }: Link): Promise<void> {
    try {
      await this.#documents.commit({ tombstone: id, in: links })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  /** Removes expired links. */
  async run(signal: AbortSignal): Promise<void> {
    await removeFound(this.#documents, links, {
      using: 'byExpiry',
      where: range('expires', { lte: this.#clock.now().toISOString() }),
      signal,
    })
  }

  #isOver({ expires }: LinkRecord): boolean {
    return this.#clock.now().toISOString() >= expires
  }
}
wire(MailLinks, configPort(config), DocumentStore, RateLimiter, Ids, Clock)
