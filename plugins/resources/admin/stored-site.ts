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
import { personalRecords, type SiteSettings } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'

/** One record: what was set so far. */
export const site = collection<Partial<SiteSettings>>()('site')

/** Something that someone wrote to the server admins. Its id counts it among those of an account and an hour. */
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

/** Another kernel's change is seen after this long at most. */
const freshMs = 500

type Known = Partial<SiteSettings> & Partial<Stored>

type Fields = Parameters<Site['change']>[0]

/** The settings of the site, in one record of the document store. */
export class StoredSite implements Site {
  readonly #preset: SiteSettings
  readonly #themes: readonly string[]
  readonly #documents: DocumentStore
  readonly #clock: Clock
  #known: { readonly settings: Promise<SiteSettings>; readonly since: number } | undefined

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
    const known = this.#known
    if (known && performance.now() - known.since < freshMs) return known.settings
    const settings = this.#read().then(record => this.#whole(record))
    const read = { settings, since: performance.now() }
    this.#known = read
    settings.catch(() => {
      if (this.#known === read) this.#known = undefined
    })
    return settings
  }

  async change(fields: Fields, actor: string | undefined): Promise<SiteSettings> {
    if (fields.theme !== undefined && !this.#themes.includes(fields.theme))
      throw new Invalid(`Unknown theme ${fields.theme}; available: ${this.#themes.join(', ')}`)
    for (;;) {
      const changed = await this.#write(fields, actor)
      this.#known = undefined
      if (changed) return this.#whole(changed)
    }
  }

  async #read(): Promise<Known | undefined> {
    return this.#documents.get(site, theRecord)
  }

  /** Undefined when someone else was faster. */
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

  /** A theme that is listed no longer yields to the first one. */
  #whole(record: Known | undefined): SiteSettings {
    const { id: _id, revision: _revision, ...set } = record ?? {}
    const settings = { ...this.#preset, ...set }
    return this.#themes.includes(settings.theme) ? settings : { ...settings, theme: this.#preset.theme }
  }
}
wire(StoredSite, configPort(config), DocumentStore, Clock)

/** Marks the terms as accepted at a time by who wrote them. Twice is not an error, nor is an account that is gone. */
export const acceptOwnTerms = async (users: Users, id: string, at: Time | null): Promise<void> => {
  const user = at === null ? undefined : await users.get(id)
  if (user && at !== null && (user.termsAccepted ?? '') < at) await users.change(id, { set: { termsAccepted: at } }, [])
}

/**
 * Who writes new terms has accepted them; everyone else has to do so again. The request that writes them says so at once, so that its sender is not
 * shut out meanwhile; this makes sure when it was cut short.
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
