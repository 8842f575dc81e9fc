import {
  Clock,
  CommitConflict,
  collection,
  configPort,
  DocumentStore,
  event,
  Invalid,
  type Site,
  type Stored,
  type StoredEvent,
  type Time,
  Users,
  wire,
} from 'pounce/sdk'
import { personalRecords, RecentRead, type SiteSettings } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'

/** One record: the settings that were changed from their defaults. */
export const site = collection<Partial<SiteSettings>>()('site')

/** A message of a user to the server admins. Its id contains its number within its account and hour. */
interface LetterRecord {
  readonly user: string
  readonly subject: string
  readonly body: string
  readonly at: Time
  readonly isSent: boolean
}

export const letters = collection<LetterRecord>()('admin.letters', { byAt: { on: ['at'] } })

export const PersonalLetters = personalRecords({
  name: 'letters',
  summary: 'Messages that you sent to the server admins.',
  in: letters,
  isOf: ({ user }, { id }) => user === id,
  show: ({ subject, body, at }) => ({ subject, body, at }),
  erase: () => 'remove',
})

const theRecord = 'site'

/** Maximum age of the cached settings, and so the delay until a change made by another kernel takes effect. */
const freshMs = 500

type Known = Partial<SiteSettings> & Partial<Stored>

type Fields = Parameters<Site['change']>[0]

/** The site settings, in one record of the document store. */
export class StoredSite implements Site {
  readonly #preset: SiteSettings
  readonly #themes: readonly string[]
  readonly #documents: DocumentStore
  readonly #clock: Clock
  readonly #recent = new RecentRead(freshMs, async () => this.#whole(await this.#read()))

  constructor({ themes, displayName }: Settings, documents: DocumentStore, clock: Clock) {
    this.#themes = themes
    this.#preset = {
      ...{ theme: themes[0] ?? '', displayName, welcomeMessage: `Welcome to ${displayName}: share, describe and find research data.` },
      ...{
        googleAnalytics: '',
        amplitudeApikey: '',
        sensors: 'Sensors',
        sensor: 'Sensor',
        parameters: 'Parameters',
        parameter: 'Parameter',
      },
      ...{ tosText: '', tosHtml: false, tosChanged: null },
    }
    this.#documents = documents
    this.#clock = clock
  }

  settings(): Promise<SiteSettings> {
    return this.#recent.get()
  }

  async change(fields: Fields, actor: string | undefined): Promise<SiteSettings> {
    if (fields.theme !== undefined && !this.#themes.includes(fields.theme))
      throw new Invalid(`Unknown theme ${fields.theme}; available: ${this.#themes.join(', ')}`)
    for (;;) {
      const changed = await this.#write(fields, actor)
      this.#recent.forget()
      if (changed) return this.#whole(changed)
    }
  }

  async #read(): Promise<Known | undefined> {
    return this.#documents.get(site, theRecord)
  }

  /** Undefined after a concurrent change. */
  async #write(fields: Fields, actor: string | undefined): Promise<Known | undefined> {
    const record = await this.#read()
    const before = this.#whole(record)
    const after = { ...before, ...fields }
    const changed = (Object.keys(fields) as (keyof Fields)[]).filter(name => before[name] !== after[name])
    if (changed.length === 0) return record ?? {}
    const tosChanged = changed.includes('tosText') ? this.#clock.now().toISOString() : before.tosChanged
    const { id: _, revision, ...kept } = record ?? {}
    const next = { ...kept, ...Object.fromEntries(changed.map(name => [name, after[name]])), tosChanged, id: theRecord }
    const events = actor === undefined ? [] : [event('site.updated', { kind: 'user', id: actor }, { fields: changed }, actor)]
    const change = revision === undefined ? { insert: next, into: site } : { replace: { ...next, revision }, in: site }
    try {
      return await this.#documents.commit(change, events)
    } catch (error) {
      if (error instanceof CommitConflict) return undefined
      throw error
    }
  }

  /** A theme that is no longer listed is replaced by the first one. */
  #whole(record: Known | undefined): SiteSettings {
    const { id: _id, revision: _revision, ...set } = record ?? {}
    const settings = { ...this.#preset, ...set }
    return this.#themes.includes(settings.theme) ? settings : { ...settings, theme: this.#preset.theme }
  }
}
wire(StoredSite, configPort(config), DocumentStore, Clock)

/** Marks the terms as accepted by their author at that time. Idempotent; a deleted account is not an error. */
export const acceptOwnTerms = async (users: Users, id: string, at: Time | null): Promise<void> => {
  const user = at === null ? undefined : await users.get(id)
  if (user && at !== null && (user.termsAccepted ?? '') < at) await users.change(id, { set: { termsAccepted: at } }, [])
}

/**
 * The author of new terms has accepted them; all other users must accept them again. The request that changes the terms marks this
 * immediately, so that its sender is not locked out; this handler covers a request that was interrupted.
 */
export class AcceptTermsForAuthor {
  #users: Users

  constructor(users: Users) {
    this.#users = users
  }

  async handle({ subject, data, at }: StoredEvent<'site.updated'>): Promise<void> {
    if (data.fields.includes('tosText')) await acceptOwnTerms(this.#users, subject.id, at)
  }
}
wire(AcceptTermsForAuthor, Users)
